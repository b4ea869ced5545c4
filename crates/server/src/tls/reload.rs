//! The certificate in use, which is replaced when its files change. rustls asks for the certificate of each connection
//! and leaves the reload to the application.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::certificate::{CertificateFiles, FileContents, leaf_certificate};

/// Gives each new connection the newest valid certificate.
pub(crate) struct ReloadingCertificate {
    files: CertificateFiles,
    /// The files as they were last read, even if they were invalid, so that an invalid certificate is logged only once.
    last_read: Mutex<Option<FileContents>>,
    current: RwLock<Arc<CertifiedKey>>,
    renew: Option<RenewCertificate>,
}

/// Renews the files if the certificate expires soon.
pub(super) type RenewCertificate = Box<dyn Fn() -> anyhow::Result<()> + Send + Sync>;

impl std::fmt::Debug for ReloadingCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloading").field("files", &self.files).finish_non_exhaustive()
    }
}

impl ReloadingCertificate {
    pub(super) fn load_files(
        files: CertificateFiles,
        renew: Option<RenewCertificate>,
    ) -> anyhow::Result<Self> {
        let (contents, key) = files.load_key()?;
        let (seen, current) = (Mutex::new(Some(contents)), RwLock::new(Arc::new(key)));
        Ok(Self { files, last_read: seen, current, renew })
    }

    /// Reads the files, and uses the new certificate if they have changed and are valid. Otherwise the old certificate
    /// stays in use. Returns whether the certificate in use changed.
    pub(crate) fn reload_if_changed(&self) -> bool {
        let mut seen = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = match self.files.read_contents() {
            Ok(contents) if seen.as_ref() == Some(&contents) => return false,
            Ok(contents) => contents,
            Err(cause) => {
                if seen.take().is_some() {
                    warn_of_unusable_files(&cause);
                }
                return false;
            }
        };
        let parsed = self.files.parse_key(&contents);
        *seen = Some(contents);
        match parsed {
            Ok(key) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
                log::info!(file:% = self.files.certificate.display(); "reloaded the certificate");
                true
            }
            Err(cause) => {
                warn_of_unusable_files(&cause);
                false
            }
        }
    }

    /// When the certificate in use expires, in seconds since 1970.
    pub(crate) fn expires_at(&self) -> Option<i64> {
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        leaf_certificate(&current).map(|certificate| certificate.validity().not_after.timestamp())
    }

    /// Renews a self-signed certificate that expires soon. Does nothing for the operator's own certificate.
    pub(crate) fn renew_if_needed(&self) {
        if let Some(renew) = &self.renew
            && let Err(cause) = renew()
        {
            log::warn!(cause:% = format_args!("{cause:#}"); "cannot renew the self-signed certificate");
        }
    }
}

fn warn_of_unusable_files(cause: &anyhow::Error) {
    log::warn!(
        cause:% = format_args!("{cause:#}");
        "cannot load the changed certificate files; the current certificate stays in use"
    );
}

impl ResolvesServerCert for ReloadingCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
impl ReloadingCertificate {
    pub(super) fn current_key(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap())
    }
}

//! The certificate in use, which is replaced when its files change.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::certificate::{Contents, Files, leaf};

/// Gives each new connection the newest valid certificate.
pub(crate) struct Reloading {
    files: Files,
    /// The files as they were last read, valid or not, so that an invalid certificate is logged once.
    seen: Mutex<Option<Contents>>,
    current: RwLock<Arc<CertifiedKey>>,
    renew: Option<Renew>,
}

/// Renews the files if the certificate expires soon.
pub(super) type Renew = Box<dyn Fn() -> anyhow::Result<()> + Send + Sync>;

impl std::fmt::Debug for Reloading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloading").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Reloading {
    pub(super) fn load(files: Files, renew: Option<Renew>) -> anyhow::Result<Self> {
        let (contents, key) = files.load()?;
        let (seen, current) = (Mutex::new(Some(contents)), RwLock::new(Arc::new(key)));
        Ok(Self { files, seen, current, renew })
    }

    /// Reads the files and uses a changed certificate if it is valid; otherwise the old one stays in use. Returns
    /// whether the certificate in use changed.
    pub(crate) fn refresh(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = match self.files.read() {
            Ok(contents) if seen.as_ref() == Some(&contents) => return false,
            Ok(contents) => contents,
            Err(cause) => {
                if seen.take().is_some() {
                    log::warn!("keeping the current certificate: {cause:#}");
                }
                return false;
            }
        };
        let parsed = self.files.parse(&contents);
        *seen = Some(contents);
        match parsed {
            Ok(key) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
                log::info!("reloaded the certificate from {}", self.files.certificate.display());
                true
            }
            Err(cause) => {
                log::warn!("keeping the current certificate: {cause:#}");
                false
            }
        }
    }

    /// When the certificate in use expires, in seconds since 1970.
    pub(crate) fn ends_at(&self) -> Option<i64> {
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        leaf(&current).map(|certificate| certificate.validity().not_after.timestamp())
    }

    /// Renews a self-signed certificate that expires soon. Does nothing for a certificate of the operator.
    pub(crate) fn renew(&self) {
        if let Some(renew) = &self.renew
            && let Err(cause) = renew()
        {
            log::warn!("cannot renew the self-signed certificate: {cause:#}");
        }
    }
}

impl ResolvesServerCert for Reloading {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
impl Reloading {
    pub(super) fn current(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.current.read().unwrap())
    }
}

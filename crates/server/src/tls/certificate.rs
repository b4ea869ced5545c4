//! A certificate chain and its private key in two PEM files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use rustls::crypto::ring::default_provider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::prelude::{FromDer, X509Certificate};
use zeroize::Zeroizing;

/// The paths of the two files.
#[derive(Debug, Clone)]
pub(super) struct CertificateFiles {
    pub(super) certificate: PathBuf,
    pub(super) private_key: PathBuf,
}

/// The contents of both files, to detect a change.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct FileContents {
    certificate: Vec<u8>,
    private_key: Zeroizing<Vec<u8>>,
}

impl CertificateFiles {
    /// Reads both files.
    pub(super) fn read_contents(&self) -> anyhow::Result<FileContents> {
        Ok(FileContents {
            certificate: read_file(&self.certificate)?,
            private_key: Zeroizing::new(read_file(&self.private_key)?),
        })
    }

    /// Reads both files and checks that key and certificate belong together.
    pub(super) fn load_key(&self) -> anyhow::Result<(FileContents, CertifiedKey)> {
        let contents = self.read_contents()?;
        let key = self.parse_key(&contents)?;
        Ok((contents, key))
    }

    /// Parses the contents for rustls.
    pub(super) fn parse_key(&self, contents: &FileContents) -> anyhow::Result<CertifiedKey> {
        let chain = CertificateDer::pem_slice_iter(&contents.certificate)
            .collect::<Result<Vec<_>, _>>()
            .ok()
            .filter(|chain| !chain.is_empty())
            .ok_or_else(|| anyhow!("{} contains no certificate in PEM", self.certificate.display()))?;
        let key = PrivateKeyDer::from_pem_slice(&contents.private_key).map_err(|_shows_the_key| {
            anyhow!("{} contains no private key in PEM", self.private_key.display())
        })?;
        CertifiedKey::from_der(chain, key, &default_provider()).with_context(|| {
            format!("{} and {} do not match", self.certificate.display(), self.private_key.display())
        })
    }
}

/// Returns the first certificate of a chain, which is the server's.
pub(super) fn leaf_certificate(key: &CertifiedKey) -> Option<X509Certificate<'_>> {
    X509Certificate::from_der(key.cert.first()?).ok().map(|(_, certificate)| certificate)
}

fn read_file(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

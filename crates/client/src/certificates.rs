//! The certificates that the client trusts.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::error::Error;

/// Reads the certificates of a PEM file. Other sections of the file, such as keys, are ignored.
pub(crate) fn read_certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => {
            Err(Error::Certificate("the PEM contains no certificate".to_owned()))
        }
        Ok(certificates) => Ok(certificates),
        Err(cause) => Err(Error::Certificate(cause.to_string())),
    }
}

//! The certificate of an identity provider.

use x509_parser::parse_x509_certificate;
use x509_parser::pem::parse_x509_pem;

use crate::values::text::is_refused_in_text;
use crate::values::{InvalidValue, Timestamp};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const LABEL: &str = "CERTIFICATE-----";

/// One X.509 certificate in PEM, at most 64 KiB, without a private key or anything else in PEM
/// (behaviour 18.5).
///
/// Parsing does not check expiry or strength: the caller decides whether an expired or weak certificate is
/// acceptable.
#[derive(Clone, PartialEq, Eq)]
pub struct PemCertificate {
    text: String,
    expires_at: Timestamp,
}

impl PemCertificate {
    /// The maximum size in bytes.
    pub const BYTES_MAX: usize = 64 << 10;

    /// Parses a certificate. The string is stored byte for byte.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.len() > PemCertificate::BYTES_MAX {
            return Err(InvalidValue("must be at most 64 KiB"));
        }
        let expires_at = parse_expiry(text);
        let invalid = InvalidValue("must be exactly one X.509 certificate in PEM, without a private key");
        expires_at.map(|expires_at| Self { text: text.to_owned(), expires_at }).ok_or(invalid)
    }

    /// The string as it was sent.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// When it expires.
    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

impl std::fmt::Debug for PemCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PemCertificate").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// When the certificate in a string expires; `None` unless the string contains exactly one certificate.
fn parse_expiry(text: &str) -> Option<Timestamp> {
    let at = only_boundary(text, BEGIN)?;
    if only_boundary(text, END)? < at || text.chars().any(is_refused_in_text) {
        return None;
    }
    let (_, pem) = parse_x509_pem(text.get(at..)?.as_bytes()).ok()?;
    let (rest, certificate) = parse_x509_certificate(&pem.contents).ok()?;
    rest.is_empty().then(|| Timestamp::new(certificate.validity().not_after.to_datetime()))
}

/// The position of the only PEM boundary that begins with `start`; `None` if there are several such
/// boundaries, or if the boundary is not that of a certificate.
fn only_boundary(text: &str, start: &str) -> Option<usize> {
    let mut found = text.match_indices(start);
    let (at, _) = found.next()?;
    let is_certificate = text.get(at + start.len()..)?.starts_with(LABEL);
    (found.next().is_none() && is_certificate).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn self_signed_pem(not_after_year: i32) -> String {
        let mut parameters = rcgen::CertificateParams::new(vec!["idp.example.com".to_owned()]).unwrap();
        parameters.not_after = rcgen::date_time_ymd(not_after_year, 1, 2);
        let key = rcgen::KeyPair::generate().unwrap();
        parameters.self_signed(&key).unwrap().pem()
    }

    #[test]
    fn one_certificate_is_kept_as_it_was_sent() {
        let pem = self_signed_pem(2040);
        for text in [
            pem.clone(),
            pem.replace('\n', "\r\n"),
            pem.trim_end().to_owned(),
            format!("subject=/CN=idp\n\n{pem}\n"),
        ] {
            let certificate = PemCertificate::parse(&text).unwrap();
            assert_eq!(certificate.as_str(), text);
            assert_eq!(certificate.expires_at().to_utc().year(), 2040);
        }
        assert_eq!(PemCertificate::parse(&self_signed_pem(2001)).unwrap().expires_at().to_utc().year(), 2001);
    }

    #[test]
    fn anything_else_is_refused() {
        let pem = self_signed_pem(2040);
        let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
        let body = pem.lines().nth(1).unwrap().to_owned();
        for text in [
            String::new(),
            " ".to_owned(),
            body.clone(),
            format!("{pem}{pem}"),
            format!("{pem}{key}"),
            format!("{key}{pem}"),
            key,
            pem.replace("CERTIFICATE", "TRUSTED CERTIFICATE"),
            pem.replace("CERTIFICATE", "X509 CRL"),
            pem.replace(&body, &body[..20]),
            pem.replace(&body, "!!!!"),
            pem.replace("-----END CERTIFICATE-----", ""),
            pem.replace("-----END CERTIFICATE-----", "-----END PRIVATE KEY-----"),
            format!("-----END CERTIFICATE-----\n{pem}"),
            pem.replace('\n', "\0"),
            "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".to_owned(),
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned(),
        ] {
            assert!(PemCertificate::parse(&text).is_err(), "{text:?}");
        }
        let large = format!("{pem}{}", "\n".repeat(PemCertificate::BYTES_MAX));
        assert_eq!(PemCertificate::parse(&large).unwrap_err().to_string(), "must be at most 64 KiB");
    }
}

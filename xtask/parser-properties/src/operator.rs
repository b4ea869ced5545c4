//! Files and arguments of the operator.

use std::io::Write as _;

use guerdon_domain::values::{PemCertificate, Timestamp};
use guerdon_mailer::{FromAddress, SmtpUrl};
use guerdon_persistence::DatabaseUrl;
use guerdon_server::testing::{format_archive_row_again, read_arguments, read_saml_metadata, read_settings};
use tempfile::NamedTempFile;

use crate::with_text;

/// What `config show` prints for a secret.
const MASK: &str = "***";

pub(crate) fn check_saml_metadata(input: &[u8]) {
    with_text(input, |text| {
        let Ok((_, sign_on_url, certificates)) = read_saml_metadata(text) else { return };
        assert!(!sign_on_url.is_empty() && !certificates.is_empty());
        certificates.iter().for_each(|certificate| drop(PemCertificate::parse(certificate)));
    });
}

/// Settings without secrets are shown as a file with the same settings.
pub(crate) fn check_settings(input: &[u8]) {
    with_text(input, |text| {
        let Some(shown) = read_settings_text(text) else { return };
        if !shown.contains(MASK) {
            assert_eq!(read_settings_text(&shown).as_ref(), Some(&shown));
        }
    });
}

fn read_settings_text(text: &str) -> Option<String> {
    let mut file = NamedTempFile::new().ok()?;
    file.write_all(text.as_bytes()).ok()?;
    read_settings(file.path()).ok()
}

pub(crate) fn check_server_urls(input: &[u8]) {
    with_text(input, |text| {
        drop(DatabaseUrl::parse(text));
        drop(SmtpUrl::parse(text));
        drop(FromAddress::parse(text));
    });
}

pub(crate) fn check_arguments(input: &[u8]) {
    with_text(input, |text| {
        let (time, points) = read_arguments(text, Timestamp::UNIX_EPOCH);
        assert!(time.is_none_or(|time| time <= Timestamp::UNIX_EPOCH || Timestamp::parse(text) == Ok(time)));
        assert!(points.is_none_or(|points| points >= 0));
    });
}

/// A row of a company archive keeps its values when it is written and read again.
pub(crate) fn check_archive_row(input: &[u8]) {
    with_text(input, |text| {
        if let Some(row) = format_archive_row_again(text) {
            assert_eq!(format_archive_row_again(&row), Some(row));
        }
    });
}

//! Tests of the self-signed certificate and of reloading changed files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use guerdon_domain::ports::Timestamp;
use time::Duration;
use time::macros::datetime;

use super::certificate::CertificateFiles;
use super::{ReloadingCertificate, self_signed};

const NOW: Timestamp = Timestamp::new(datetime!(2026-11-20 20:01:02 UTC));

fn read_certificate(files: &CertificateFiles) -> Vec<u8> {
    fs::read(&files.certificate).unwrap()
}

#[test]
fn the_certificate_is_created_once_and_renewed_before_it_expires() {
    let folder = tempfile::tempdir().unwrap();
    let ensure =
        |url: &str, now| read_certificate(&self_signed::ensure_certificate(folder.path(), url, now).unwrap());
    let first = ensure("https://guerdon.example.com", NOW);
    assert_eq!(first, ensure("https://guerdon.example.com/", NOW + Duration::days(334)));
    assert_eq!(first, ensure("https://localhost:8443", NOW));
    let renewed = ensure("https://guerdon.example.com", NOW + Duration::days(336));
    assert_ne!(first, renewed);
    let renamed = ensure("https://other.example.com", NOW + Duration::days(336));
    assert_ne!(renewed, renamed);
    assert_eq!(renamed, ensure("https://[::1]:8443", NOW + Duration::days(336)));
}

#[test]
fn created_files_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let files = self_signed::ensure_certificate(folder.path(), "https://localhost", NOW).unwrap();
    for path in [&files.certificate, &files.private_key] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_broken_certificate_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let files = self_signed::ensure_certificate(folder.path(), "https://localhost", NOW).unwrap();
    fs::write(&files.private_key, "gone").unwrap();
    self_signed::ensure_certificate(folder.path(), "https://localhost", NOW).unwrap().load_key().unwrap();
}

#[test]
fn valid_changed_files_are_reloaded_and_invalid_ones_ignored() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = self_signed::ensure_certificate(one.path(), "https://localhost", NOW).unwrap();
    let others = self_signed::ensure_certificate(other.path(), "https://localhost", NOW).unwrap();
    let reloading = ReloadingCertificate::load_files(files.clone(), None).unwrap();
    let first = reloading.current_key().cert.clone();
    assert!(!reloading.reload_if_changed());

    fs::copy(&others.certificate, &files.certificate).unwrap();
    assert!(!reloading.reload_if_changed(), "the key does not match the new certificate yet");
    assert_eq!(reloading.current_key().cert, first);
    fs::remove_file(&files.private_key).unwrap();
    assert!(!reloading.reload_if_changed());
    assert_eq!(reloading.current_key().cert, first);

    fs::copy(&others.private_key, &files.private_key).unwrap();
    assert!(reloading.reload_if_changed());
    assert_ne!(reloading.current_key().cert, first);
    assert!(!reloading.reload_if_changed());
}

//! Emails that are written to files.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use guerdon_mailer::{FailureKind, FolderTransport, FromAddress, MailTransport};

use crate::support::{from_address, new_mail};

fn file_names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_mail_becomes_one_file_however_often_it_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("data/mail");
    let mut transport = FolderTransport::open(&folder, from_address()).unwrap();
    transport.send_mail(&new_mail(1)).unwrap();
    let name = "20261121T102201.123456Z-00000000-0000-0000-0000-000000000001.eml";
    let first = fs::read(folder.join(name)).unwrap();
    transport.send_mail(&new_mail(1)).unwrap();
    FolderTransport::open(&folder, from_address()).unwrap().send_mail(&new_mail(1)).unwrap();
    assert_eq!(file_names(&folder), [name]);
    assert_eq!(fs::read(folder.join(name)).unwrap(), first);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join(name))), (0o700, 0o600));
}

#[test]
fn unfinished_files_of_a_crash_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let old = File::create(directory.path().join(".unfinished-1-a.eml")).unwrap();
    let created_at = old.metadata().unwrap().modified().unwrap();
    old.set_modified(created_at - Duration::from_secs(2 * 3_600)).unwrap();
    fs::write(directory.path().join(".unfinished-1-b.eml"), "half").unwrap();
    fs::write(directory.path().join("kept.eml"), "whole").unwrap();
    let mut transport = FolderTransport::open(directory.path(), FromAddress::local_default()).unwrap();
    let unfinished = format!(".unfinished-{}-{}", std::process::id(), "20261121T102201.123456Z-x.eml");
    fs::write(directory.path().join(unfinished), "half").unwrap();
    transport.send_mail(&new_mail(1)).unwrap();
    assert!(file_names(directory.path()).contains(&"kept.eml".to_owned()));
    assert!(!file_names(directory.path()).contains(&".unfinished-1-a.eml".to_owned()));
    let young = ".unfinished-1-b.eml".to_owned();
    assert!(file_names(directory.path()).contains(&young), "another process may be writing it");
}

#[test]
fn a_folder_that_cannot_be_written_is_a_failure_of_the_server() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("mail");
    let mut transport = FolderTransport::open(&folder, from_address()).unwrap();
    fs::remove_dir(&folder).unwrap();
    assert_eq!(transport.send_mail(&new_mail(1)).unwrap_err().kind(), FailureKind::Server);
}

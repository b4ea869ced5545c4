//! Tests of sending commands over the socket.

use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{UnixListener, UnixStream};

use super::{SOCKET_NAME, SendOutcome, ShortPath, send_command};
use crate::commands::Command;

fn seal_command() -> Command {
    serde_json::from_str(r#"{"seal": {}}"#).unwrap()
}

#[test]
fn a_long_folder_path_can_contain_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("d".repeat(100)).join("e".repeat(100));
    std::fs::create_dir_all(&deep).unwrap();
    let _listener = UnixListener::bind(&ShortPath::for_file(&deep, SOCKET_NAME).unwrap().path).unwrap();
    assert!(deep.join(SOCKET_NAME).exists());
    UnixStream::connect(&ShortPath::for_file(&deep, SOCKET_NAME).unwrap().path).unwrap();
}

#[test]
fn no_command_is_sent_without_a_listener() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("guerdon.db");
    let send = |data_dir: &std::path::Path| send_command(data_dir, &database, &seal_command());
    assert!(matches!(send(folder.path()), SendOutcome::NotServed));
    assert!(matches!(send(&folder.path().join("missing")), SendOutcome::NotServed));
    drop(UnixListener::bind(folder.path().join(SOCKET_NAME)).unwrap()); // a crash does not remove the socket
    assert!(matches!(send(folder.path()), SendOutcome::NotServed));
}

#[test]
fn a_command_carries_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(SOCKET_NAME)).unwrap();
    let received_line = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line
    });
    send_command(folder.path(), &folder.path().join("guerdon.db"), &seal_command());
    let request: serde_json::Value = serde_json::from_str(&received_line.join().unwrap()).unwrap();
    assert_eq!(request["version"], crate::platform::build_info::VERSION);
}

#[test]
fn a_missing_response_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join(SOCKET_NAME)).unwrap();
    let crash = std::thread::spawn(move || {
        // The service crashes after it has received the whole line, so the command may have run.
        let (stream, _) = listener.accept().unwrap();
        BufReader::new(stream).read_line(&mut String::new()).unwrap();
    });
    let outcome = send_command(folder.path(), &folder.path().join("guerdon.db"), &seal_command());
    crash.join().unwrap();
    assert!(matches!(outcome, SendOutcome::Disconnected));
}

#[test]
fn a_path_that_is_not_utf_8_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let _listener = UnixListener::bind(folder.path().join(SOCKET_NAME)).unwrap();
    let database = folder.path().join(std::ffi::OsStr::from_bytes(b"guerdon-\xff.db"));
    let outcome = send_command(folder.path(), &database, &seal_command());
    let SendOutcome::Refused(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("the path of the database") && why.contains("must be UTF-8"), "{why}");
}

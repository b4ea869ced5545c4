//! Sends emails to an independent mail server, aiosmtpd.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use guerdon_mailer::{Mail, MailTransport};
use guerdon_test_support::require_condition;
use serde_json::{Value, json};

use crate::smtp::smtp_transport;
use crate::support::new_mail;

/// The environment variable with the path of a Python that has aiosmtpd installed. `cargo xtask test` installs aiosmtpd
/// and sets the variable.
const PYTHON_VARIABLE: &str = "TEST_AIOSMTPD_PYTHON";

struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _gone = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn an_independent_server_reads_the_mail_as_intended() {
    let interpreter = std::env::var_os(PYTHON_VARIABLE).unwrap_or_else(|| "python3".into());
    let python = |arguments: &[&str]| {
        let mut python = Command::new(&interpreter);
        python.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        python
    };
    let mut import = python(&["-c", "import aiosmtpd"]);
    let is_installed = import.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !require_condition(is_installed, "aiosmtpd of PyPI") {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/foreign_server.py");
    let mut server = KilledOnDrop(python(&[script]).spawn().unwrap());
    let mut lines = BufReader::new(server.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let port = lines.next().unwrap();

    let mut transport = smtp_transport(&format!("smtp://127.0.0.1:{port}"));
    let long = Mail { subject: "Grüße ".repeat(40).trim().into(), ..new_mail(2) };
    transport.send_mail(&new_mail(1)).unwrap();
    transport.send_mail(&long).unwrap();

    let first: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    let expected = json!({
        "from": "points@example.com",
        "to": ["ada+1@example.com"],
        "subject": "The points reserve of Bücher & Söhne is low",
        "sender": "Guerdon <points@example.com>",
        "id": "<00000000-0000-0000-0000-000000000001@example.com>",
        "date": "2026-11-21T10:22:01+00:00",
        "auto_submitted": "auto-generated",
        "type": "text/plain",
        "text": "Grüß Gott,\r\n\r\n.\r\n..\r\nPlease add points.\r\n",
        "defects": [],
    });
    assert_eq!(first, expected);
    let second: Value = serde_json::from_str(&lines.next().unwrap()).unwrap();
    assert_eq!(second["subject"], json!(long.subject));
}

//! Calls of the API: by ourselves to fill the sandbox, and as lines of `curl` for an integrator to paste.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::workspace::output;

/// Makes curl print the status on a line of its own after the body.
const PRINT_STATUS: &str = r"\n%{http_code}\n";

/// A provider's way to the API.
pub(super) struct Client {
    address: String,
    certificate: PathBuf,
    key: String,
    secret: String,
}

/// A line for the shell, and the status that it has to print last.
pub(super) struct ShellLine {
    pub(super) text: String,
    status: u16,
}

impl Client {
    pub(super) fn new(address: String, certificate: PathBuf, key: String, secret: String) -> Self {
        Self { address, certificate, key, secret }
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn secret(&self) -> &str {
        &self.secret
    }

    /// Creates something and answers it.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let certificate = Certificate::from_pem(&std::fs::read(&self.certificate)?)?;
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[certificate])).build();
        let pair = BASE64.encode(format!("{}:{}", self.key, self.secret));
        let mut answer = agent(tls)
            .post(format!("{}{path}", self.address))
            .header("Authorization", format!("Basic {pair}"))
            .header("Content-Type", "application/json")
            .send(body.to_string())
            .with_context(|| format!("calling {path}"))?;
        let text = answer.body_mut().read_to_string()?;
        ensure!(answer.status() == 201, "{path} was answered {}: {text}", answer.status());
        serde_json::from_str(&text).with_context(|| format!("reading the answer of {path}"))
    }

    /// The call as a line that can be pasted.
    pub(super) fn line(&self, path: &str, body: Option<&Value>, status: u16) -> ShellLine {
        let certificate = quoted(&self.certificate.to_string_lossy());
        let user = quoted(&format!("{}:{}", self.key, self.secret));
        let data = body.map(|body| {
            format!(" \\\n  -H 'Content-Type: application/json' -d {}", quoted(&body.to_string()))
        });
        let text = format!(
            "curl -sS -w '{PRINT_STATUS}' --cacert {certificate} -u {user}{} \\\n  {}",
            data.unwrap_or_default(),
            quoted(&format!("{}{path}", self.address)),
        );
        ShellLine { text, status }
    }
}

impl ShellLine {
    /// Runs the line as it stands, in a shell, and answers the body; another status is an error.
    pub(super) fn run(&self) -> Result<String> {
        let printed = output(Command::new("sh").args(["-c", &self.text]))?;
        let (body, status) = printed.trim_end().rsplit_once('\n').unwrap_or(("", printed.trim_end()));
        ensure!(
            status == self.status.to_string(),
            "expected {}, got {status}: {body}\n{}",
            self.status,
            self.text
        );
        Ok(body.to_owned())
    }

    pub(super) fn check(&self) -> Result<()> {
        let body = self.run()?;
        println!("{} {body}", self.status);
        Ok(())
    }
}

/// The status of a plain GET.
pub(super) fn status(url: &str) -> Result<u16> {
    Ok(agent(TlsConfig::default()).get(url).call()?.status().as_u16())
}

fn agent(tls: TlsConfig) -> Agent {
    let config = Agent::config_builder().tls_config(tls).http_status_as_error(false).proxy(None);
    config.timeout_global(Some(Duration::from_secs(10))).build().into()
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_quote_survives_the_shell() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}

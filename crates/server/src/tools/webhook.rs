//! `guerdon webhook verify`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use guerdon_domain::ports::Clock as _;
use guerdon_webhooks::{Delivery, DeliveryPart, Diagnosis, diagnose};
use serde::Serialize;

use crate::commands::{CommandOutput, CommandView};
use crate::platform::SystemClock;

/// Verify the signature of a delivery.
#[derive(Debug, clap::Args)]
pub(crate) struct Verify {
    /// The callback URL, exactly as registered.
    #[arg(long, value_name = "URL")]
    url: String,
    /// The shared secret of the provider.
    #[arg(long, value_name = "SECRET")]
    shared_secret: String,
    /// A file with the received headers, as lines `Name: value`; the output of `curl -v` also works.
    #[arg(long, value_name = "FILE")]
    headers: PathBuf,
    /// A file with the received body, byte for byte.
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
}

/// The result of the verification.
#[derive(Serialize)]
struct SignatureView {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl CommandView for SignatureView {
    fn to_text(&self) -> String {
        match (&self.part, &self.hint) {
            (Some(part), Some(hint)) => format!("invalid, {part}: {hint}"),
            _ => "valid".to_owned(),
        }
    }
}

impl Verify {
    pub(super) fn verify_delivery(&self) -> Result<CommandOutput> {
        let headers = String::from_utf8(read_file(&self.headers)?)
            .with_context(|| format!("{} is not UTF-8", self.headers.display()))?;
        let body = read_file(&self.body)?;
        let view = match self.diagnose_delivery(&headers, &body) {
            Ok(()) => SignatureView { valid: true, part: None, hint: None },
            Err(Diagnosis { part, hint }) => {
                SignatureView { valid: false, part: Some(part.as_str()), hint: Some(hint) }
            }
        };
        let output = view.to_output()?;
        Ok(CommandOutput { status: u8::from(!view.valid), ..output })
    }

    fn diagnose_delivery(&self, headers: &str, body: &[u8]) -> Result<(), Diagnosis> {
        let [timestamp, nonce, signature] = [
            (DeliveryPart::Timestamp, "x-service-timestamp"),
            (DeliveryPart::Nonce, "x-service-nonce"),
            (DeliveryPart::Signature, "x-service-signature"),
        ]
        .map(|(part, name)| header_value(headers, part, name));
        let delivery =
            Delivery { url: &self.url, timestamp: timestamp?, nonce: nonce?, signature: signature?, body };
        let content_length =
            header_values(headers, "content-length").next().and_then(|text| text.parse().ok());
        diagnose(&self.shared_secret, &delivery, content_length, SystemClock.now().into())
    }
}

fn read_file(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

fn header_value<'a>(headers: &'a str, part: DeliveryPart, name: &'static str) -> Result<&'a str, Diagnosis> {
    header_values(headers, name).next().ok_or_else(|| {
        let hint = format!("the header {name} is missing; a proxy or a framework may have removed it");
        Diagnosis { part, hint }
    })
}

fn header_values<'a>(headers: &'a str, name: &'static str) -> impl Iterator<Item = &'a str> {
    headers.lines().filter_map(move |line| {
        // `curl -v` marks request and response lines.
        let (header_name, value) = line.trim_start_matches(['<', '>', ' ']).split_once(':')?;
        header_name.trim().eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

//! Builds the transports of events and emails from the settings, for the service, the commands and `config check`.

mod mail;
mod webhooks;

pub(crate) use mail::{build_mail_transport, describe_mail_destination};
pub(crate) use webhooks::{build_event_sender, check_event_sender};

use std::path::Path;

use anyhow::Context as _;

fn read_roots(key: &str, file: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("{key}: cannot read {}", file.display()))
}

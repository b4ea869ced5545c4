//! The HTTP client that delivers events.

use std::sync::Arc;

use anyhow::Context as _;
use guerdon_domain::providers::Provider;
use guerdon_webhook_dispatcher::{
    DecryptSecrets, HttpSender, HttpSenderParts, SharedSecrets, TrustedRoots, UnreadableSecret,
};

use super::read_roots;
use crate::keys::{Keys, SigningSecrets};
use crate::platform::SystemClock;
use crate::settings::Settings;

/// Builds the HTTP client that delivers events. Fails if the extra roots cannot be read.
pub(crate) fn build_event_sender(settings: &Settings, keys: &Arc<Keys>) -> anyhow::Result<HttpSender> {
    build_sender(settings, Arc::new(SigningSecrets(Arc::clone(keys))))
}

/// Fails if [`build_event_sender`] would fail. Needs no keys.
pub(crate) fn check_event_sender(settings: &Settings) -> anyhow::Result<()> {
    build_sender(settings, Arc::new(NoSecrets)).map(drop)
}

/// The secrets of a sender that sends nothing.
struct NoSecrets;

impl DecryptSecrets for NoSecrets {
    fn decrypt_secrets(&self, _: &Provider) -> Result<SharedSecrets, UnreadableSecret> {
        Err(UnreadableSecret)
    }
}

fn build_sender(settings: &Settings, secrets: Arc<dyn DecryptSecrets>) -> anyhow::Result<HttpSender> {
    let mut parts = HttpSenderParts::new(settings.webhooks.egress, secrets, Arc::new(SystemClock));
    parts.roots = read_webhook_roots(settings)?;
    HttpSender::new(parts).context("webhooks.extra_roots")
}

/// Reads the certificate authorities that are trusted for receivers. Fails if the file of extra roots cannot be read.
fn read_webhook_roots(settings: &Settings) -> anyhow::Result<TrustedRoots> {
    match &settings.webhook_roots {
        None => Ok(TrustedRoots::Public),
        Some(file) => Ok(TrustedRoots::And(read_roots("webhooks.extra_roots", file)?)),
    }
}

//! The secrets that events are signed with.

use std::sync::Arc;

use guerdon_domain::ports::Clock as _;
use guerdon_domain::providers::Provider;
use guerdon_webhook_dispatcher::{OpenSecret, UnreadableSecret};
use zeroize::Zeroizing;

use super::derived::Keys;
use crate::platform::SystemClock;

/// Decrypts the current shared secret of a provider.
pub(crate) struct SigningSecrets(pub(crate) Arc<Keys>);

impl OpenSecret for SigningSecrets {
    fn open(&self, provider: &Provider) -> Result<Zeroizing<String>, UnreadableSecret> {
        let opened = self.0.open(provider.id, provider.signing_secret_sealed(SystemClock.now()));
        opened.map(|secret| Zeroizing::new(secret.expose().to_owned())).map_err(|_sealed| UnreadableSecret)
    }
}

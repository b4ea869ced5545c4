//! The secrets that events are signed with.

use std::sync::Arc;

use guerdon_domain::ports::Clock as _;
use guerdon_domain::providers::Provider;
use guerdon_webhook_dispatcher::{DecryptSecrets, SharedSecrets, UnreadableSecret};
use zeroize::Zeroizing;

use super::derived::Keys;
use crate::platform::SystemClock;

/// Decrypts the shared secrets of a provider.
pub(crate) struct SigningSecrets(pub(crate) Arc<Keys>);

impl DecryptSecrets for SigningSecrets {
    fn decrypt_secrets(&self, provider: &Provider) -> Result<SharedSecrets, UnreadableSecret> {
        let open = |sealed: &[u8]| {
            let opened = self.0.decrypt_secret(provider.id, sealed);
            opened
                .map(|secret| Zeroizing::new(secret.expose().to_owned()))
                .map_err(|_sealed| UnreadableSecret)
        };
        let former = provider.former_encrypted_shared_secret(SystemClock.now());
        Ok(SharedSecrets {
            current: open(&provider.encrypted_shared_secret)?,
            former: former.map(open).transpose()?,
        })
    }
}

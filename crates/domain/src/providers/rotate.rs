//! Replacing a secret of a provider.

use std::mem;
use std::time::Duration;

use super::update::{UpdateProviderError, lock_and_load};
use crate::model::{Action, FormerSecret, Provider};
use crate::ports::{AuditLog, Context, Locks, Providers};
use crate::values::ProviderId;

/// The new secret, as it is stored.
#[derive(Debug, Clone)]
pub enum NewSecret {
    /// The peppered hash of an API secret.
    Api(Vec<u8>),
    /// A shared secret, encrypted under the master key.
    Shared(Vec<u8>),
}

/// Replaces a secret. The previous one stays valid for the grace period, if any; every older one becomes
/// invalid immediately.
pub fn rotate_secret<T: AuditLog + Locks + Providers + ?Sized>(
    tx: &mut T,
    id: ProviderId,
    secret: NewSecret,
    grace: Option<Duration>,
    context: &Context<'_>,
) -> Result<Provider, UpdateProviderError> {
    let mut provider = lock_and_load(tx, id)?;
    let now = context.clock.now();
    let former = |secret| grace.map(|grace| FormerSecret { secret, valid_until: now.saturating_add(grace) });
    let secret_name = match secret {
        NewSecret::Api(hash) => {
            provider.former_api_secret = former(mem::replace(&mut provider.api_secret_hash, hash));
            "API secret"
        }
        NewSecret::Shared(encrypted) => {
            let replaced = mem::replace(&mut provider.encrypted_shared_secret, encrypted);
            provider.former_shared_secret = former(replaced);
            "shared secret"
        }
    };
    tx.update_provider(&provider, now)?;
    let hours = grace.map_or(0, |grace| grace.as_secs() / 3_600);
    let unit = if hours == 1 { "hour" } else { "hours" };
    let detail = format!("{secret_name}, {hours} {unit} of grace");
    tx.record_audit_entry(
        &context.new_audit_entry(Action::SecretRotated).with_provider(id).with_detail(detail),
    )?;
    Ok(provider)
}

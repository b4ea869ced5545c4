//! Replacing a secret of a provider.

use std::time::Duration;

use super::change::{ChangeProviderError, apply_change};
use crate::model::{Action, FormerSecret, Provider};
use crate::ports::{AuditLog, Context, LockableRow, Locks, ProviderChange, Providers};
use crate::values::{ProviderId, Update};

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
) -> Result<Provider, ChangeProviderError> {
    tx.lock_row(LockableRow::Provider(id))?;
    let before = tx.find_provider(id)?.ok_or(ChangeProviderError::NoSuchProvider)?;
    let former = |kept: Vec<u8>| match grace {
        Some(grace) => {
            Update::Set(FormerSecret { secret: kept, valid_until: context.clock.now().saturating_add(grace) })
        }
        None => Update::Clear,
    };
    let secret_name = match &secret {
        NewSecret::Api(_) => "API secret",
        NewSecret::Shared(_) => "shared secret",
    };
    let change = match secret {
        NewSecret::Api(hash) => ProviderChange {
            api_secret_hash: Some(hash),
            former_api_secret: former(before.api_secret_hash),
            ..ProviderChange::default()
        },
        NewSecret::Shared(encrypted) => ProviderChange {
            encrypted_shared_secret: Some(encrypted),
            former_shared_secret: former(before.encrypted_shared_secret),
            ..ProviderChange::default()
        },
    };
    let provider = apply_change(tx, id, &change, context)?;
    let hours = grace.map_or(0, |grace| grace.as_secs() / 3_600);
    let unit = if hours == 1 { "hour" } else { "hours" };
    let detail = format!("{secret_name}, {hours} {unit} of grace");
    tx.record_audit_entry(
        &context.new_audit_entry(Action::SecretRotated).with_provider(id).with_detail(detail),
    )?;
    Ok(provider)
}

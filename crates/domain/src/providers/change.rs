//! Changing a provider, its secrets included.

use crate::model::Provider;
use crate::ports::{Context, ProviderChange, Providers, StoreError};
use crate::values::ProviderId;

/// Why a provider was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeProviderError {
    #[error("no provider has this id")]
    NoSuchProvider,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes a provider; answers it as it then is.
pub fn change<T: Providers + ?Sized>(
    tx: &mut T,
    id: ProviderId,
    change: &ProviderChange,
    context: &Context<'_>,
) -> Result<Provider, ChangeProviderError> {
    let changed = tx.change_provider(id, change, context.clock.now())?;
    let provider = if changed { tx.provider(id)? } else { None };
    provider.ok_or(ChangeProviderError::NoSuchProvider)
}

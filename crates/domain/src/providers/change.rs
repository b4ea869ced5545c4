//! Changing a provider, including its secrets.

use crate::model::{Action, Provider};
use crate::ports::{AuditLog, Context, LockableRow, Locks, ProviderChange, Providers, StoreError};
use crate::values::{ProviderId, Update};

/// Why a provider was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeProviderError {
    #[error("no provider has this id")]
    NoSuchProvider,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes a provider. Returns the changed provider.
pub fn change_provider<T: AuditLog + Locks + Providers + ?Sized>(
    tx: &mut T,
    id: ProviderId,
    change: &ProviderChange,
    context: &Context<'_>,
) -> Result<Provider, ChangeProviderError> {
    tx.lock_row(LockableRow::Provider(id))?;
    let provider = apply_change(tx, id, change, context)?;
    tx.record_audit_entry(
        &context
            .new_audit_entry(Action::ProviderChanged)
            .with_provider(id)
            .with_detail(describe_change(change)),
    )?;
    Ok(provider)
}

/// The details of a change for the audit log.
fn describe_change(change: &ProviderChange) -> String {
    let callback_url = match &change.callback_url {
        Update::Keep => None,
        Update::Clear => Some("no callback URL".to_owned()),
        Update::Set(url) => Some(format!("callback URL {url}")),
    };
    let name = change.name.as_ref().map(|name| format!("name {name}"));
    let manages = change.manages_all_domain_resources;
    let manages = manages.map(|manages| format!("manages all domain resources {manages}"));
    let suspended = change.suspended.map(|suspended| format!("suspended {suspended}"));
    [name, callback_url, manages, suspended].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Changes a provider without an audit entry. The caller writes its own.
pub(super) fn apply_change<T: Providers + ?Sized>(
    tx: &mut T,
    id: ProviderId,
    change: &ProviderChange,
    context: &Context<'_>,
) -> Result<Provider, ChangeProviderError> {
    let changed = tx.change_provider(id, change, context.clock.now())?;
    let provider = if changed { tx.find_provider(id)? } else { None };
    provider.ok_or(ChangeProviderError::NoSuchProvider)
}

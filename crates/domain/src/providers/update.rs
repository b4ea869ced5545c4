//! Changing a provider.

use url::Url;

use crate::model::{Action, Provider};
use crate::ports::{AuditLog, Context, LockableRow, Locks, Providers, StoreError};
use crate::values::{ProviderId, Update};

/// Why a provider was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateProviderError {
    #[error("no provider has this id")]
    NoSuchProvider,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A change of a provider by an operator. Fields that are `None` or `Keep` do not change.
#[derive(Debug, Clone, Default)]
pub struct UpdateProvider {
    pub name: Option<String>,
    /// The destination of its events, stored exactly as registered.
    pub callback_url: Update<String>,
    /// Whether it may create and update companies and corporations and create users (behaviour 9.3).
    pub manages_all_domain_resources: Option<bool>,
    /// Whether its credentials are refused and its events wait.
    pub suspended: Option<bool>,
}

/// Changes a provider. Returns the changed provider.
pub fn update<T: AuditLog + Locks + Providers + ?Sized>(
    tx: &mut T,
    id: ProviderId,
    update: &UpdateProvider,
    context: &Context<'_>,
) -> Result<Provider, UpdateProviderError> {
    let mut provider = lock_and_load(tx, id)?;
    provider.name = update.name.as_ref().unwrap_or(&provider.name).clone();
    update.callback_url.apply_to_field(&mut provider.callback_url);
    provider.manages_all_domain_resources =
        update.manages_all_domain_resources.unwrap_or(provider.manages_all_domain_resources);
    provider.suspended = update.suspended.unwrap_or(provider.suspended);
    tx.update_provider(&provider, context.clock.now())?;
    tx.record_audit_entry(
        &context
            .new_audit_entry(Action::ProviderChanged)
            .with_provider(id)
            .with_detail(describe_update(update)),
    )?;
    Ok(provider)
}

/// The details of a change for the audit log. They contain only the origin of a callback URL, because its path and
/// query may contain a token.
fn describe_update(update: &UpdateProvider) -> String {
    let callback_url = match &update.callback_url {
        Update::Keep => None,
        Update::Clear => Some("no callback URL".to_owned()),
        Update::Set(url) => Some(format!("callback URL at {}", origin_of(url))),
    };
    let name = update.name.as_ref().map(|name| format!("name {name}"));
    let manages = update.manages_all_domain_resources;
    let manages = manages.map(|manages| format!("manages all domain resources {manages}"));
    let suspended = update.suspended.map(|suspended| format!("suspended {suspended}"));
    [name, callback_url, manages, suspended].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The scheme, host and port of a URL. The text may not be a URL: it is checked before each attempt.
fn origin_of(url: &str) -> String {
    Url::parse(url).map_or_else(|_| "an unknown host".to_owned(), |url| url.origin().ascii_serialization())
}

/// Locks the row of a provider, and loads the provider as it is under the lock.
pub(super) fn lock_and_load<T: Locks + Providers + ?Sized>(
    tx: &mut T,
    id: ProviderId,
) -> Result<Provider, UpdateProviderError> {
    tx.lock_row(LockableRow::Provider(id))?;
    tx.find_provider(id)?.ok_or(UpdateProviderError::NoSuchProvider)
}

//! The audit log.

use std::collections::HashMap;

use guerdon_console::LogPosition;
use guerdon_console::model::{Actor, AuditEntry, AuditLog, LogPage};
use guerdon_console::pages::audit::AuditFilter;
use guerdon_domain::audit_log::{Action, AuditEntry as Entry, newest_entries};
use guerdon_domain::journal::Actor as ActorKind;
use guerdon_domain::ports::{AuditLogQuery, StoreError};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::{PageContext, provider_reference, to_utc};

const PAGE_SIZE: usize = 50;

pub(super) fn load_audit_log(mut context: PageContext<'_>) -> Result<AuditLog, StoreError> {
    let filter = AuditFilter::from_query(context.query);
    let company = filter.company.as_deref().and_then(|id| id.parse::<CompanyId>().ok());
    let before = match LogPosition::from_query(context.query) {
        LogPosition::Before(id) => id.parse().ok(),
        _ => None,
    };
    let query = AuditLogQuery {
        company,
        actor: filter.actor.as_deref().and_then(parse_actor),
        action: filter.action.as_deref().and_then(Action::from_name),
        before,
        limit: i64::try_from(PAGE_SIZE).unwrap_or(50) + 1, // one more than is shown, to know whether there are more
        ..AuditLogQuery::default()
    };
    let mut entries = newest_entries(context.reads, &query)?;
    let has_more = entries.len() > PAGE_SIZE;
    entries.truncate(PAGE_SIZE);
    let older = entries.last().filter(|_| has_more).map(|entry| entry.id.to_string());
    Ok(AuditLog {
        list: LogPage { rows: to_entries(&mut context, &entries)?, newer: None, older },
        actions: Action::ALL.iter().map(|action| action.name().to_owned()).collect(),
        company: company.map(|id| context.company_name(id)).transpose()?,
    })
}

/// The entries that match the filter, newest first.
pub(super) fn load_entries(
    context: &mut PageContext<'_>,
    query: &AuditLogQuery,
) -> Result<Vec<AuditEntry>, StoreError> {
    let entries = newest_entries(context.reads, query)?;
    to_entries(context, &entries)
}

fn to_entries(context: &mut PageContext<'_>, entries: &[Entry]) -> Result<Vec<AuditEntry>, StoreError> {
    let providers = context.provider_names()?;
    entries.iter().map(|entry| to_entry(context, &providers, entry)).collect()
}

fn parse_actor(kind: &str) -> Option<ActorKind> {
    match kind {
        "provider" => Some(ActorKind::Provider),
        "operator" => Some(ActorKind::Operator),
        "schedule" => Some(ActorKind::Schedule),
        _ => None,
    }
}

fn to_entry(
    context: &mut PageContext<'_>,
    providers: &HashMap<ProviderId, String>,
    entry: &Entry,
) -> Result<AuditEntry, StoreError> {
    let reference = entry.requester.reference.clone().unwrap_or_default();
    let actor = match (entry.requester.actor, entry.provider_id) {
        (ActorKind::Provider, Some(provider)) => Actor::Provider(provider_reference(providers, provider)),
        (ActorKind::Provider | ActorKind::Operator, _) => Actor::Operator(reference),
        (ActorKind::Schedule, _) => Actor::Schedule(reference),
    };
    Ok(AuditEntry {
        at: to_utc(entry.at),
        actor,
        action: entry.action.name().to_owned(),
        company: entry.company_id.map(|id| context.company_name(id)).transpose()?,
        object: entry.object_or_provider().map(|id| id.to_string()),
        detail: entry.detail.clone(),
    })
}

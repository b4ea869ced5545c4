//! The audit log.

use std::collections::HashMap;

use guerdon_console::Place;
use guerdon_console::model::{Actor, AuditEntry, AuditLog, Stretch};
use guerdon_console::pages::audit::AuditFilter;
use guerdon_domain::audit_log::{Action, AuditEntry as Entry, newest};
use guerdon_domain::journal::Actor as Who;
use guerdon_domain::ports::{AuditWanted, StoreError};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::{Look, named, when};

const PER_PAGE: usize = 50;

pub(super) fn audit(mut look: Look<'_>) -> Result<AuditLog, StoreError> {
    let filter = AuditFilter::read(look.query);
    let company = filter.company.as_deref().and_then(|id| id.parse::<CompanyId>().ok());
    let before = match Place::read(look.query) {
        Place::Before(id) => id.parse().ok(),
        _ => None,
    };
    let wanted = AuditWanted {
        company,
        actor: filter.actor.as_deref().and_then(actor),
        action: filter.action.as_deref().and_then(Action::from_name),
        before,
        limit: i64::try_from(PER_PAGE).unwrap_or(50) + 1, // one more than is shown, to know whether there are more
        ..AuditWanted::default()
    };
    let mut found = newest(look.reads, &wanted)?;
    let is_more = found.len() > PER_PAGE;
    found.truncate(PER_PAGE);
    let older = found.last().filter(|_| is_more).map(|entry| entry.id.to_string());
    Ok(AuditLog {
        list: Stretch { rows: told(&mut look, &found)?, newer: None, older },
        actions: Action::ALL.iter().map(|action| action.name().to_owned()).collect(),
        company: company.map(|id| look.company_name(id)).transpose()?,
    })
}

/// The entries that match the filter, newest first.
pub(super) fn entries(look: &mut Look<'_>, wanted: &AuditWanted) -> Result<Vec<AuditEntry>, StoreError> {
    let found = newest(look.reads, wanted)?;
    told(look, &found)
}

fn told(look: &mut Look<'_>, found: &[Entry]) -> Result<Vec<AuditEntry>, StoreError> {
    let providers = look.provider_names()?;
    found.iter().map(|audited| entry(look, &providers, audited)).collect()
}

fn actor(kind: &str) -> Option<Who> {
    match kind {
        "provider" => Some(Who::Provider),
        "operator" => Some(Who::Operator),
        "schedule" => Some(Who::Schedule),
        _ => None,
    }
}

fn entry(
    look: &mut Look<'_>,
    providers: &HashMap<ProviderId, String>,
    it: &Entry,
) -> Result<AuditEntry, StoreError> {
    let reference = it.by.reference.clone().unwrap_or_default();
    let actor = match (it.by.actor, it.provider_id) {
        (Who::Provider, Some(provider)) => Actor::Provider(named(providers, provider)),
        (Who::Provider | Who::Operator, _) => Actor::Operator(reference),
        (Who::Schedule, _) => Actor::Schedule(reference),
    };
    Ok(AuditEntry {
        at: when(it.at),
        actor,
        action: it.action.name().to_owned(),
        company: it.company_id.map(|id| look.company_name(id)).transpose()?,
        object: it.object_or_provider().map(|id| id.to_string()),
        detail: it.detail.clone(),
    })
}

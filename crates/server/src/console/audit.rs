//! Who did what.

use std::collections::HashMap;

use guerdon_console::Place;
use guerdon_console::model::{Actor, AuditEntry, AuditLog, Stretch};
use guerdon_console::pages::audit::AuditFilter;
use guerdon_domain::audit_log::{Action, AuditEntry as Entry, newest};
use guerdon_domain::causes::Actor as Who;
use guerdon_domain::ports::{AuditWanted, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::{Look, named, when};

const PER_PAGE: usize = 50;
/// How many entries are looked at for those of an actor or an action.
const LOOKED_AT: i64 = 2_000;

pub(super) fn audit(mut look: Look<'_>) -> Result<AuditLog, StoreError> {
    let filter = AuditFilter::read(look.query);
    let company = filter.company.as_deref().and_then(|it| it.parse::<CompanyId>().ok());
    let before = match Place::read(look.query) {
        Place::Before(micros) => micros.parse().ok().and_then(Timestamp::from_unix_micros),
        _ => None,
    };
    let is_filtered = filter.actor.is_some() || filter.action.is_some();
    let limit = if is_filtered { LOOKED_AT } else { i64::try_from(PER_PAGE).unwrap_or(50) + 1 };
    let wanted = AuditWanted { company, provider: None, since: None, before, limit };
    let found = newest(look.reads, &wanted)?;
    let is_more = i64::try_from(found.len()).is_ok_and(|it| it >= limit);
    let last_seen = found.last().map(|it| it.at);
    let fits = |it: &Entry| {
        filter.action.as_deref().is_none_or(|name| it.action.name() == name)
            && filter.actor.as_deref().is_none_or(|name| kind(it.by.actor) == name)
    };
    let mut fitting: Vec<Entry> = found.into_iter().filter(fits).collect();
    let is_cut = fitting.len() > PER_PAGE;
    fitting.truncate(PER_PAGE);
    let older = if is_cut { fitting.last().map(|it| it.at) } else { last_seen.filter(|_| is_more) };
    Ok(AuditLog {
        list: Stretch {
            rows: told(&mut look, &fitting)?,
            newer: None,
            older: older.map(|it| it.unix_micros().to_string()),
        },
        actions: Action::ALL.iter().map(|it| it.name().to_owned()).collect(),
        company: company.map(|it| look.company_name(it)).transpose()?,
    })
}

/// The entries that are as wanted, newest first.
pub(super) fn entries(look: &mut Look<'_>, wanted: &AuditWanted) -> Result<Vec<AuditEntry>, StoreError> {
    let found = newest(look.reads, wanted)?;
    told(look, &found)
}

fn told(look: &mut Look<'_>, found: &[Entry]) -> Result<Vec<AuditEntry>, StoreError> {
    let providers = look.provider_names()?;
    found.iter().map(|it| entry(look, &providers, it)).collect()
}

fn kind(actor: Who) -> &'static str {
    match actor {
        Who::Provider => "provider",
        Who::Operator => "operator",
        Who::Schedule => "schedule",
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
        company: it.company_id.map(|it| look.company_name(it)).transpose()?,
        object: it.object_id.map(|it| it.to_string()),
        detail: it.detail.clone(),
    })
}

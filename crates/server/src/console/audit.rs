//! The audit log.

use std::collections::HashMap;

use guerdon_console::LogPosition;
use guerdon_console::model::{Actor, AuditEntry, AuditLog, CompanyFilterResult, LogPage, ObjectReference};
use guerdon_console::pages::audit::AuditFilter;
use guerdon_domain::audit_log::{Action, AuditEntry as Entry, list_newest_entries};
use guerdon_domain::journal::Actor as ActorKind;
use guerdon_domain::ports::{AuditLogQuery, FoundCompany, StoreError};
use guerdon_domain::values::{CompanyId, ProviderId};

use super::{PageContext, provider_reference, provider_references, to_utc};

const PAGE_SIZE: usize = 50;
/// The maximum number of companies to choose from.
const COMPANIES_MAX: i64 = 50;

pub(super) fn load_audit_log(mut context: PageContext<'_>) -> Result<AuditLog, StoreError> {
    let filter = AuditFilter::from_query(context.query);
    let company = find_filtered_company(&mut context, filter.company.as_deref())?;
    let mut entries = match &company {
        CompanyFilterResult::All => {
            list_newest_entries(context.reads, &audit_query(&context, &filter, None))?
        }
        CompanyFilterResult::One(found) => {
            list_newest_entries(context.reads, &audit_query(&context, &filter, found.id.parse().ok()))?
        }
        CompanyFilterResult::Several(_) | CompanyFilterResult::Unknown => Vec::new(),
    };
    let has_more = entries.len() > PAGE_SIZE;
    entries.truncate(PAGE_SIZE);
    let older = entries.last().filter(|_| has_more).map(|entry| entry.id.to_string());
    let names = context.provider_names()?;
    Ok(AuditLog {
        list: LogPage { rows: to_entries(&mut context, &entries)?, newer: None, older },
        actions: Action::ALL.iter().map(|action| action.name().to_owned()).collect(),
        providers: provider_references(&names),
        company,
    })
}

fn audit_query(context: &PageContext<'_>, filter: &AuditFilter, company: Option<CompanyId>) -> AuditLogQuery {
    let before = match LogPosition::from_query(context.query) {
        LogPosition::Before(id) => id.parse().ok(),
        _ => None,
    };
    let action = filter.action.as_deref().and_then(Action::from_name);
    AuditLogQuery {
        company,
        provider: filter.provider.as_deref().and_then(|id| id.parse().ok()),
        actor: filter.actor.as_deref().and_then(parse_actor),
        action,
        without_recognitions: !filter.with_recognitions && action.is_none(),
        before,
        limit: i64::try_from(PAGE_SIZE).unwrap_or(50) + 1, // one more than is shown, to know whether there are more
        ..AuditLogQuery::default()
    }
}

/// Finds the company with this id or domain, or the companies whose name or domain contains the text.
fn find_filtered_company(
    context: &mut PageContext<'_>,
    text: Option<&str>,
) -> Result<CompanyFilterResult, StoreError> {
    let Some(text) = text else { return Ok(CompanyFilterResult::All) };
    if let Ok(id) = text.parse::<CompanyId>() {
        let is_known = context.reads.provider_of_company(id)?.is_some();
        let found = is_known.then(|| context.company_name(id)).transpose()?;
        return Ok(found.map_or(CompanyFilterResult::Unknown, CompanyFilterResult::One));
    }
    let found = context.reads.search_companies(text, COMPANIES_MAX)?;
    let is_exact = |company: &&FoundCompany| company.domain.eq_ignore_ascii_case(text);
    let to_reference = |company: &FoundCompany| ObjectReference {
        id: company.id.to_string(),
        name: format!("{} ({})", company.name, company.domain),
    };
    Ok(match (found.iter().find(is_exact), found.as_slice()) {
        (Some(one), _) | (None, [one]) => CompanyFilterResult::One(to_reference(one)),
        (None, []) => CompanyFilterResult::Unknown,
        (None, several) => CompanyFilterResult::Several(several.iter().map(to_reference).collect()),
    })
}

/// The entries that match the filter, newest first.
pub(super) fn load_entries(
    context: &mut PageContext<'_>,
    query: &AuditLogQuery,
) -> Result<Vec<AuditEntry>, StoreError> {
    let entries = list_newest_entries(context.reads, query)?;
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

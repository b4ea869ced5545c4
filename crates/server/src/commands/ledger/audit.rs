//! `guerdon audit`.

use guerdon_domain::audit_log::{Action, AuditEntry, newest};
use guerdon_domain::journal::Actor;
use guerdon_domain::ports::{AuditWanted, StoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::limit::parse_limit;
use crate::commands::arguments::names::{CompanyName, ProviderName};
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::output::table;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// The default number of entries.
const SHOWN: u32 = 100;

/// Show the audit log, newest first: all commands that changed something, and changes by providers to money,
/// credentials and single sign-on.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon audit --company acme.example --since 7d
  guerdon audit --action provider.rotate --limit 20")]
pub(crate) struct Audit {
    /// Show only entries of this company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: Option<CompanyName>,
    /// Show only entries of this provider: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderName>,
    /// Show only this action, such as provider.rotate
    #[arg(long, value_name = "ACTION", value_parser = action)]
    action: Option<String>,
    /// Show only entries at or after this time: a time, or an age such as 2h
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = check_time)]
    since: Option<String>,
    /// Maximum number of entries
    #[arg(long, default_value_t = SHOWN, value_name = "N", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

fn action(text: &str) -> Result<String, String> {
    let all = || Action::ALL.iter().map(|action| action.name()).collect::<Vec<_>>().join(", ");
    Action::from_name(text)
        .map(|action| action.name().to_owned())
        .ok_or_else(|| format!("must be one of {}", all()))
}

#[derive(Serialize)]
struct EntryView {
    at: String,
    actor: String,
    action: &'static str,
    company_id: Option<Uuid>,
    object_id: Option<Uuid>,
    detail: String,
}

impl From<AuditEntry> for EntryView {
    fn from(it: AuditEntry) -> Self {
        Self {
            at: it.at.to_string(),
            actor: actor(&it),
            action: it.action.name(),
            company_id: it.company_id.map(|id| id.as_uuid()),
            object_id: it.object_or_provider(),
            detail: it.detail,
        }
    }
}

/// The actor: a provider with its id, or the operator with the name of the operating system user.
fn actor(it: &AuditEntry) -> String {
    let reference = it.by.reference.as_deref().map_or_else(String::new, |reference| format!(" {reference}"));
    match it.by.actor {
        Actor::Provider => {
            let who = it.provider_id.map_or_else(String::new, |id| format!(" {id}"));
            format!("provider{who}")
        }
        Actor::Operator => format!("operator{reference}"),
        Actor::Schedule => format!("schedule{reference}"),
    }
}

impl View for Vec<EntryView> {
    fn text(&self) -> String {
        let id = |id: &Option<Uuid>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let row = |entry: &EntryView| {
            let (at, actor, action) = (entry.at.clone(), entry.actor.clone(), entry.action.to_owned());
            vec![at, actor, action, id(&entry.company_id), id(&entry.object_id), entry.detail.clone()]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        table(&["at", "actor", "action", "company", "object", "detail"], &rows)
    }
}

impl Runnable for Audit {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let wanted = AuditWanted {
            company: self.company.as_ref().map(|company| company.find_id(environment)).transpose()?,
            provider: self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?,
            action: self.action.as_deref().and_then(Action::from_name),
            since: parse_optional_time(self.since.as_ref())?,
            limit: i64::from(self.limit),
            ..AuditWanted::default()
        };
        let found = environment.store.snapshot(|reads| newest(reads, &wanted))?;
        found.into_iter().map(EntryView::from).collect::<Vec<_>>().output()
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

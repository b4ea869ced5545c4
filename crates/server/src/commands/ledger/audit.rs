//! `guerdon audit`.

use guerdon_domain::audit_log::{Action, AuditEntry, list_newest_entries};
use guerdon_domain::journal::Actor;
use guerdon_domain::ports::{AuditLogQuery, StoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::{CompanyArgument, ProviderArgument};
use crate::commands::arguments::limit::{limit_note, parse_limit};
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::output::{format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// The default number of entries.
const DEFAULT_LIMIT: u32 = 100;

/// Show the audit log, newest first: all commands that changed something, and changes by providers to money,
/// credentials and single sign-on.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon audit --company acme.example --since 7d
  guerdon audit --action provider.rotate --limit 20")]
pub(crate) struct Audit {
    /// Show only entries of this company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: Option<CompanyArgument>,
    /// Show only entries of this provider: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderArgument>,
    /// Show only this action, such as provider.rotate
    #[arg(long, value_name = "ACTION", value_parser = check_action)]
    action: Option<String>,
    /// Show only entries at or after this time: a time, or an age such as 2h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = check_time)]
    since: Option<String>,
    /// Maximum number of entries
    #[arg(long, default_value_t = DEFAULT_LIMIT, value_name = "COUNT", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

fn check_action(text: &str) -> Result<String, String> {
    let all = || Action::ALL.iter().map(|action| action.name()).collect::<Vec<_>>().join(", ");
    Action::from_name(text)
        .map(|action| action.name().to_owned())
        .ok_or_else(|| format!("must be one of {}", all()))
}

#[derive(Serialize)]
struct AuditEntryView {
    at: String,
    actor: String,
    action: &'static str,
    company_id: Option<Uuid>,
    object_id: Option<Uuid>,
    detail: String,
}

impl From<AuditEntry> for AuditEntryView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            at: entry.at.to_string(),
            actor: format_actor(&entry),
            action: entry.action.name(),
            company_id: entry.company_id.map(|id| id.as_uuid()),
            object_id: entry.object_or_provider(),
            detail: entry.detail,
        }
    }
}

/// The actor: a provider with its id, or the operator with the name of the operating system user.
fn format_actor(entry: &AuditEntry) -> String {
    let reference =
        entry.requester.reference.as_deref().map_or_else(String::new, |reference| format!(" {reference}"));
    match entry.requester.actor {
        Actor::Provider => {
            let provider = entry.provider_id.map_or_else(String::new, |id| format!(" {id}"));
            format!("provider{provider}")
        }
        Actor::Operator => format!("operator{reference}"),
        Actor::Schedule => format!("schedule{reference}"),
    }
}

impl CommandView for Vec<AuditEntryView> {
    fn to_text(&self) -> String {
        let row = |entry: &AuditEntryView| {
            let (at, actor, action) = (entry.at.clone(), entry.actor.clone(), entry.action.to_owned());
            let (company, object) = (or_dash(entry.company_id), or_dash(entry.object_id));
            vec![at, actor, action, company, object, entry.detail.clone()]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        format_table(&["at", "actor", "action", "company", "object", "detail"], &rows)
    }
}

impl RunnableCommand for Audit {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let query = AuditLogQuery {
            company: self.company.as_ref().map(|company| company.find_id(environment)).transpose()?,
            provider: self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?,
            action: self.action.as_deref().and_then(Action::from_name),
            since: parse_optional_time(self.since.as_ref())?,
            limit: i64::from(self.limit),
            ..AuditLogQuery::default()
        };
        let entries = environment.store.read_snapshot(|reads| list_newest_entries(reads, &query))?;
        let notes = limit_note(entries.len(), self.limit, "entry", "entries");
        let output = entries.into_iter().map(AuditEntryView::from).collect::<Vec<_>>().to_output()?;
        Ok(CommandOutput { notes, ..output })
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

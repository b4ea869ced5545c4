//! `guerdon event list`.

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{EventQuery, QueuedEvent, StoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StateName;
use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::arguments::limit::{limit_note, parse_limit};
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::output::{format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// The default number of events.
const DEFAULT_LIMIT: u32 = 100_000;

/// List events, newest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon event list --state exhausted
  guerdon event list --state pending --oldest --limit 20
  guerdon event list --provider Acme --since 2h --limit 20")]
pub(crate) struct List {
    /// List only events of this provider: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderArgument>,
    /// List only events in this state.
    #[arg(long, value_enum)]
    state: Option<StateName>,
    /// List only events created at or after this time: a time, or an age such as 2h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = check_time)]
    since: Option<String>,
    /// Maximum number of events.
    #[arg(long, default_value_t = DEFAULT_LIMIT, value_name = "COUNT", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
    /// If there are more events than the maximum, list the oldest of them instead of the newest
    #[arg(long)]
    oldest: bool,
}

#[derive(Serialize)]
struct ListedEventView {
    id: Uuid,
    provider_id: Uuid,
    r#type: &'static str,
    state: &'static str,
    attempts: u32,
    next_attempt_at: Option<String>,
    created_at: String,
}

impl ListedEventView {
    fn from_event(event: &QueuedEvent) -> Self {
        Self {
            id: event.id.as_uuid(),
            provider_id: event.provider_id.as_uuid(),
            r#type: event.kind.name(),
            state: event.state.name(),
            attempts: event.attempts,
            next_attempt_at: event.next_attempt_at.map(|at| at.to_string()),
            created_at: event.created_at.to_string(),
        }
    }

    fn to_row(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.r#type.to_owned(),
            self.state.to_owned(),
            self.attempts.to_string(),
            or_dash(self.next_attempt_at.as_ref()),
            self.created_at.clone(),
            self.provider_id.to_string(),
        ]
    }
}

impl CommandView for Vec<ListedEventView> {
    fn to_text(&self) -> String {
        let rows: Vec<Vec<String>> = self.iter().map(ListedEventView::to_row).collect();
        format_table(&["id", "type", "state", "attempts", "next attempt", "created", "provider"], &rows)
    }
}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let provider = self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?;
        let state = self.state.map(EventState::from);
        let since = parse_optional_time(self.since.as_ref())?;
        let limit = i64::from(self.limit);
        let query =
            EventQuery { provider, state, since, oldest: self.oldest, limit, ..EventQuery::default() };
        let events = environment.store.read_snapshot(|reads| reads.list_events(&query))?;
        let notes = limit_note(events.len(), self.limit, "event", "events");
        let output = events.iter().map(ListedEventView::from_event).collect::<Vec<_>>().to_output()?;
        Ok(CommandOutput { notes, ..output })
    }
}

//! `guerdon event replay`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::events::ReplayError;
use guerdon_domain::events::{replay_all, replay_by_ids};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::EventId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StateName;
use crate::commands::arguments::identifiers::{ProviderArgument, parse_id};
use crate::commands::error::impl_from_errors;
use crate::commands::output::format_count;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// Replay events: make them due now. Delivered, exhausted and unaddressed events start a new retry schedule; pending
/// events continue theirs.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon event replay EVENT_ID
  guerdon event replay --provider Acme --state exhausted
  guerdon event replay --provider Acme --state pending --state exhausted")]
pub(crate) struct Replay {
    /// The ids of the events.
    #[arg(value_name = "EVENT_ID", value_parser = parse_id, required_unless_present = "provider", conflicts_with_all = ["provider", "states"])]
    ids: Vec<Uuid>,
    /// Replay all events of this provider (an id or a name) in the given states
    #[arg(long, value_name = "PROVIDER", requires = "states")]
    provider: Option<ProviderArgument>,
    /// The state of the events to replay. Can be repeated
    #[arg(long = "state", value_parser = parse_replayable_state, value_name = "pending|exhausted|unaddressed", requires = "provider")]
    states: Vec<StateName>,
}

fn parse_replayable_state(text: &str) -> Result<StateName, String> {
    match text {
        "pending" => Ok(StateName::Pending),
        "exhausted" => Ok(StateName::Exhausted),
        "unaddressed" => Ok(StateName::Unaddressed),
        _ => Err("must be pending, exhausted or unaddressed".to_owned()),
    }
}

#[derive(Serialize)]
struct ReplayView {
    replayed: usize,
}

impl CommandView for ReplayView {
    fn to_text(&self) -> String {
        format!("{} replayed, due now", format_count(self.replayed, "event", "events"))
    }
}

impl Replay {
    /// Returns the selected states without repetitions. Pending comes first, because replayed events of the other
    /// states become pending and must not be counted twice.
    fn states_in_order(&self) -> impl Iterator<Item = StateName> {
        let order = [StateName::Pending, StateName::Exhausted, StateName::Unaddressed];
        order.into_iter().filter(|state| self.states.contains(state))
    }
}

impl RunnableCommand for Replay {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let context = environment.context();
        let ids: Vec<EventId> = self.ids.iter().map(|id| EventId::from_uuid(*id)).collect();
        let provider = self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?;
        let replayed = environment.store.transaction(|tx| -> Result<_, CommandError> {
            let entry = context.new_audit_entry(Action::EventsReplayed);
            let (entry, replayed) = match provider {
                Some(provider) => {
                    let mut replayed = 0;
                    for state in self.states_in_order() {
                        replayed += replay_all(tx, provider, state.into(), &context)?;
                    }
                    (entry.with_provider(provider), replayed)
                }
                None => (entry, replay_by_ids(tx, &ids, &context)?),
            };
            let entry = if let [one] = ids.as_slice() { entry.with_object(one.as_uuid()) } else { entry };
            tx.record_audit_entry(&entry.with_detail(format_count(replayed, "event", "events")))?;
            Ok(replayed)
        })?;
        ReplayView { replayed }.to_output()
    }
}

impl_from_errors!(ReplayError);

//! `guerdon event replay`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::events::{
    BulkReplay, EventState, ReplayError, ReplayStep, replay_by_ids, run_operator_replay_step,
};
use guerdon_domain::ports::{Context, StoreExt};
use guerdon_domain::values::{EventId, ProviderId};
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
    /// Replays the events with the given ids in one transaction.
    fn replay_ids(
        &self,
        environment: &CommandEnvironment,
        context: &Context<'_>,
    ) -> Result<usize, CommandError> {
        let ids: Vec<EventId> = self.ids.iter().map(|id| EventId::from_uuid(*id)).collect();
        environment.store.transaction(|tx| -> Result<_, CommandError> {
            let replayed = replay_by_ids(tx, &ids, context)?;
            let entry = context.new_audit_entry(Action::EventsReplayed);
            let entry = if let [one] = ids.as_slice() { entry.with_object(one.as_uuid()) } else { entry };
            tx.record_audit_entry(&entry.with_detail(format_count(replayed, "event", "events")))?;
            Ok(replayed)
        })
    }

    /// Replays the provider's events in the selected states, in several transactions if there are many. Each records
    /// its events in the audit log. If the command fails, the events of the committed transactions remain replayed.
    fn replay_states(
        &self,
        environment: &CommandEnvironment,
        provider: ProviderId,
        context: &Context<'_>,
    ) -> Result<usize, CommandError> {
        let states: Vec<EventState> = self.states.iter().map(|state| (*state).into()).collect();
        let mut replay = BulkReplay::of_states(&states);
        let mut replayed_before = 0;
        loop {
            let step = environment.store.transaction(|tx| -> Result<_, CommandError> {
                let step = run_operator_replay_step(tx, provider, &replay, context)?;
                let replayed = step.replayed() - replayed_before;
                if replayed > 0 || matches!(step, ReplayStep::Done(_)) {
                    let entry = context.new_audit_entry(Action::EventsReplayed).with_provider(provider);
                    tx.record_audit_entry(&entry.with_detail(format_count(replayed, "event", "events")))?;
                }
                Ok(step)
            })?;
            replayed_before = step.replayed();
            match step {
                ReplayStep::Continue(rest) => replay = rest,
                ReplayStep::Done(replayed) => return Ok(replayed),
            }
        }
    }
}

impl RunnableCommand for Replay {
    fn may_take_long(&self) -> bool {
        self.provider.is_some()
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let context = environment.context();
        let replayed = match &self.provider {
            Some(provider) => self.replay_states(environment, provider.find_id(environment)?, &context)?,
            None => self.replay_ids(environment, &context)?,
        };
        ReplayView { replayed }.to_output()
    }
}

impl_from_errors!(ReplayError);

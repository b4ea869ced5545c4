//! `guerdon event replay`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::events::ReplayError;
use guerdon_domain::events::{replay, replay_all};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::EventId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StateName;
use crate::commands::arguments::names::{ProviderName, parse_id};
use crate::commands::error::refusals;
use crate::commands::output::counted;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// Redeliver events now. Ended events start a new retry schedule; pending ones continue theirs.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon event replay EVENT_ID
  guerdon event replay --provider Acme --state exhausted")]
pub(crate) struct Replay {
    /// The ids of the events.
    #[arg(value_name = "EVENT_ID", value_parser = parse_id, required_unless_present = "provider", conflicts_with_all = ["provider", "state"])]
    ids: Vec<Uuid>,
    /// Replay all events of this provider (an id or a name) in the given state
    #[arg(long, value_name = "PROVIDER", requires = "state")]
    provider: Option<ProviderName>,
    /// The state of the events to replay.
    #[arg(long, value_parser = kept, value_name = "exhausted|unaddressed", requires = "provider")]
    state: Option<StateName>,
}

fn kept(text: &str) -> Result<StateName, String> {
    match text {
        "exhausted" => Ok(StateName::Exhausted),
        "unaddressed" => Ok(StateName::Unaddressed),
        _ => Err("must be exhausted or unaddressed".to_owned()),
    }
}

#[derive(Serialize)]
struct Replayed {
    replayed: usize,
}

impl View for Replayed {
    fn text(&self) -> String {
        format!("{} queued for redelivery", counted(self.replayed, "event", "events"))
    }
}

impl Runnable for Replay {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let context = environment.context();
        let ids: Vec<EventId> = self.ids.iter().map(|id| EventId::from_uuid(*id)).collect();
        let provider = self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?;
        let replayed = environment.store.transaction(|tx| -> Result<_, CommandError> {
            let entry = context.entry(Action::EventsReplayed);
            let (entry, replayed) = match (provider, self.state) {
                (Some(provider), Some(state)) => {
                    let replayed = replay_all(tx, provider, state.into(), &context)?;
                    (entry.of_provider(provider), replayed)
                }
                _ => (entry, replay(tx, &ids, &context)?),
            };
            let entry = if let [one] = ids.as_slice() { entry.about(one.as_uuid()) } else { entry };
            tx.note(&entry.saying(counted(replayed, "event", "events")))?;
            Ok(replayed)
        })?;
        Replayed { replayed }.output()
    }
}

refusals!(ReplayError);

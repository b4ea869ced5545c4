//! `guerdon event`.

use guerdon_domain::events::ReplayError;
use guerdon_domain::events::{EventState, replay, replay_all};
use guerdon_domain::ports::{QueuedEvent, StoreError, StoreExt};
use guerdon_domain::values::{EventId, ProviderId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::output::table;
use super::{CommandError, Output, Runnable, View, Workplace};

/// How many events are shown where nothing else is asked for.
const SHOWN: u32 = 100_000;

/// The states by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateName {
    /// Waits for its next attempt.
    Pending,
    /// Confirmed by its receiver.
    Delivered,
    /// Failed for the last time.
    Exhausted,
    /// Its provider had no callback URL.
    Unaddressed,
}

impl From<StateName> for EventState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Pending => Self::Pending,
            StateName::Delivered => Self::Delivered,
            StateName::Exhausted => Self::Exhausted,
            StateName::Unaddressed => Self::Unaddressed,
        }
    }
}

/// Shows events, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// Of this provider only.
    #[arg(long, value_name = "ID")]
    provider: Option<Uuid>,
    /// In this state only.
    #[arg(long, value_enum)]
    state: Option<StateName>,
    /// At most so many.
    #[arg(long, default_value_t = SHOWN, value_name = "N")]
    limit: u32,
}

/// Makes events due at once: those that ended on a schedule that begins anew, those that wait on the one they have.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// The events.
    #[arg(value_name = "EVENT_ID", required_unless_present = "provider", conflicts_with_all = ["provider", "state"])]
    ids: Vec<Uuid>,
    /// All events of this provider in the state named.
    #[arg(long, value_name = "ID", requires = "state")]
    provider: Option<Uuid>,
    /// Which of the provider's events.
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
struct Listed {
    id: Uuid,
    provider_id: Uuid,
    r#type: &'static str,
    state: &'static str,
    attempts: u16,
    next_attempt_at: Option<String>,
    created_at: String,
}

impl Listed {
    fn of(it: &QueuedEvent) -> Self {
        Self {
            id: it.id.as_uuid(),
            provider_id: it.provider_id.as_uuid(),
            r#type: it.kind.name(),
            state: it.state.name(),
            attempts: it.attempts,
            next_attempt_at: it.next_attempt_at.map(|it| it.to_string()),
            created_at: it.created_at.to_string(),
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.r#type.to_owned(),
            self.state.to_owned(),
            self.attempts.to_string(),
            self.next_attempt_at.clone().unwrap_or_else(|| "-".to_owned()),
            self.created_at.clone(),
            self.provider_id.to_string(),
        ]
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct All(Vec<Listed>);

impl View for All {
    fn text(&self) -> String {
        let rows: Vec<Vec<String>> = self.0.iter().map(Listed::row).collect();
        table(&["id", "type", "state", "attempts", "next attempt", "created", "provider"], &rows)
    }
}

#[derive(Serialize)]
struct Replayed {
    replayed: usize,
}

impl View for Replayed {
    fn text(&self) -> String {
        format!("{} events are due again", self.replayed)
    }
}

impl Runnable for List {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let provider = self.provider.map(ProviderId::from_uuid);
        let state = self.state.map(EventState::from);
        let found = workplace.store.snapshot(|reads| -> Result<_, StoreError> {
            reads.events(provider, state, i64::from(self.limit))
        })?;
        All(found.iter().map(Listed::of).collect()).output()
    }
}

impl Runnable for Replay {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let context = workplace.context();
        let ids: Vec<EventId> = self.ids.iter().map(|it| EventId::from_uuid(*it)).collect();
        let replayed = workplace.store.transaction(|tx| -> Result<_, CommandError> {
            Ok(match (self.provider, self.state) {
                (Some(provider), Some(state)) => {
                    replay_all(tx, ProviderId::from_uuid(provider), state.into(), &context)?
                }
                _ => replay(tx, &ids, &context)?,
            })
        })?;
        Replayed { replayed }.output()
    }
}

refusals!(ReplayError);

//! `guerdon event`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::events::ReplayError;
use guerdon_domain::events::{EventState, replay, replay_all};
use guerdon_domain::ports::{EventsWanted, MadeAttempt, QueuedEvent, StoreError, StoreExt, ToldEvent};
use guerdon_domain::values::EventId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::error::refusals;
use super::named::{ProviderName, id};
use super::output::{counted, fields, table};
use super::pages::most;
use super::since::{given, moment};
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

/// Shows events, newest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// Of this provider only: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderName>,
    /// In this state only.
    #[arg(long, value_enum)]
    state: Option<StateName>,
    /// Caused then or later.
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = moment)]
    since: Option<String>,
    /// At most so many.
    #[arg(long, default_value_t = SHOWN, value_name = "N", allow_negative_numbers = true, value_parser = most)]
    limit: u32,
}

/// Shows one event, its body and the attempts to deliver it.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The event.
    #[arg(value_name = "EVENT_ID", value_parser = id)]
    id: Uuid,
}

/// Makes events due at once: those that ended on a schedule that begins anew, those that wait on the one they have.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// The events.
    #[arg(value_name = "EVENT_ID", value_parser = id, required_unless_present = "provider", conflicts_with_all = ["provider", "state"])]
    ids: Vec<Uuid>,
    /// All events of this provider, by id or name, in the state named
    #[arg(long, value_name = "PROVIDER", requires = "state")]
    provider: Option<ProviderName>,
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
    attempts: u32,
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
struct Shown {
    id: Uuid,
    provider_id: Uuid,
    r#type: &'static str,
    state: &'static str,
    created_at: String,
    next_attempt_at: Option<String>,
    body: Box<RawValue>,
    attempts: Vec<Tried>,
}

#[derive(Serialize)]
struct Tried {
    number: u32,
    started_at: String,
    status: Option<u16>,
    cause: Option<String>,
    duration_ms: u128,
}

impl Shown {
    fn of(told: &ToldEvent, attempts: Vec<MadeAttempt>) -> Result<Self, CommandError> {
        let event = &told.event;
        let body = serde_json::from_slice(&told.body)?;
        let tried = |it: MadeAttempt| Tried {
            number: it.number,
            started_at: it.started_at.to_string(),
            status: it.status,
            cause: it.cause,
            duration_ms: it.duration.as_millis(),
        };
        Ok(Self {
            id: event.id.as_uuid(),
            provider_id: event.provider_id.as_uuid(),
            r#type: event.kind.name(),
            state: event.state.name(),
            created_at: event.created_at.to_string(),
            next_attempt_at: event.next_attempt_at.map(|it| it.to_string()),
            body,
            attempts: attempts.into_iter().map(tried).collect(),
        })
    }
}

impl View for Shown {
    fn text(&self) -> String {
        let (id, provider) = (self.id.to_string(), self.provider_id.to_string());
        let shown = fields(&[
            ("id", &id),
            ("provider", &provider),
            ("type", self.r#type),
            ("state", self.state),
            ("created", &self.created_at),
            ("next attempt", self.next_attempt_at.as_deref().unwrap_or("-")),
        ]);
        let rows = self.attempts.iter().map(|it| {
            let status = it.status.map_or_else(|| "-".to_owned(), |it| it.to_string());
            let (number, took) = (it.number.to_string(), format!("{} ms", it.duration_ms));
            vec![number, it.started_at.clone(), status, took, it.cause.clone().unwrap_or_default()]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let attempts = match rows.as_slice() {
            [] => "no attempt was made".to_owned(),
            rows => table(&["attempt", "started", "status", "took", "cause"], rows),
        };
        format!("{shown}\n\n{}\n\n{attempts}", self.body)
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

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let provider = self.provider.as_ref().map(|it| it.id(workplace)).transpose()?;
        let state = self.state.map(EventState::from);
        let since = given(self.since.as_ref())?;
        let limit = i64::from(self.limit);
        let wanted = EventsWanted { provider, state, since, limit, ..EventsWanted::default() };
        let found = workplace.store.snapshot(|reads| -> Result<_, StoreError> { reads.events(&wanted) })?;
        All(found.iter().map(Listed::of).collect()).output()
    }
}

impl Runnable for Show {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = EventId::from_uuid(self.id);
        let found = workplace.store.snapshot(|reads| -> Result<_, StoreError> {
            let Some(told) = reads.anybodys_event(id)? else { return Ok(None) };
            Ok(Some((told, reads.attempts(id)?)))
        })?;
        let (told, attempts) =
            found.ok_or_else(|| CommandError::refused(format!("no event has the id {id}")))?;
        Shown::of(&told, attempts)?.output()
    }
}

impl Runnable for Replay {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let context = workplace.context();
        let ids: Vec<EventId> = self.ids.iter().map(|it| EventId::from_uuid(*it)).collect();
        let provider = self.provider.as_ref().map(|it| it.id(workplace)).transpose()?;
        let replayed = workplace.store.transaction(|tx| -> Result<_, CommandError> {
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

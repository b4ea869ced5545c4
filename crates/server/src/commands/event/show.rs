//! `guerdon event show`.

use guerdon_domain::ports::{MadeAttempt, StoreError, StoreExt, ToldEvent};
use guerdon_domain::values::EventId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::commands::arguments::names::parse_id;
use crate::commands::output::{fields, table};
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// Show an event with its body and delivery attempts.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon event show EVENT_ID
  guerdon --output json event show EVENT_ID")]
pub(crate) struct Show {
    /// The event's id.
    #[arg(value_name = "EVENT_ID", value_parser = parse_id)]
    id: Uuid,
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
        let tried = |attempt: MadeAttempt| Tried {
            number: attempt.number,
            started_at: attempt.started_at.to_string(),
            status: attempt.status,
            cause: attempt.cause,
            duration_ms: attempt.duration.as_millis(),
        };
        Ok(Self {
            id: event.id.as_uuid(),
            provider_id: event.provider_id.as_uuid(),
            r#type: event.kind.name(),
            state: event.state.name(),
            created_at: event.created_at.to_string(),
            next_attempt_at: event.next_attempt_at.map(|at| at.to_string()),
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
        let rows = self.attempts.iter().map(|attempt| {
            let status = attempt.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            let (number, took) = (attempt.number.to_string(), format!("{} ms", attempt.duration_ms));
            vec![number, attempt.started_at.clone(), status, took, attempt.cause.clone().unwrap_or_default()]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let attempts = match rows.as_slice() {
            [] => "no attempts yet".to_owned(),
            rows => table(&["attempt", "started", "status", "took", "cause"], rows),
        };
        format!("{shown}\n\n{}\n\n{attempts}", self.body)
    }
}

impl Runnable for Show {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let id = EventId::from_uuid(self.id);
        let found = environment.store.snapshot(|reads| -> Result<_, StoreError> {
            let Some(told) = reads.anybodys_event(id)? else { return Ok(None) };
            Ok(Some((told, reads.attempts(id)?)))
        })?;
        let (told, attempts) =
            found.ok_or_else(|| CommandError::refused(format!("no event has the id {id}")))?;
        Shown::of(&told, attempts)?.output()
    }
}

//! `guerdon event show`.

use guerdon_domain::ports::{EventWithBody, RecordedAttempt, SHOWN_ATTEMPTS_MAX, StoreError, StoreExt};
use guerdon_domain::values::EventId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::commands::arguments::identifiers::parse_id;
use crate::commands::output::{format_fields, format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// How many characters of a response the table shows. The latest response follows in full.
const RESPONSE_CHARACTERS_MAX: usize = 80;

/// Show an event with its body, its newest 100 delivery attempts, and the receiver's responses.
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
struct EventView {
    id: Uuid,
    provider_id: Uuid,
    r#type: &'static str,
    state: &'static str,
    created_at: String,
    next_attempt_at: Option<String>,
    body: Box<RawValue>,
    /// The newest 100 attempts, oldest first.
    attempts: Vec<AttemptView>,
}

#[derive(Serialize)]
struct AttemptView {
    number: u32,
    started_at: String,
    status: Option<u16>,
    cause: Option<String>,
    duration_ms: u128,
    /// The headers of the response to a failed attempt, one per line.
    response_headers: Option<String>,
    /// The beginning of the receiver's response; `None` without a response.
    response_body: Option<String>,
}

impl EventView {
    fn from_event(found: &EventWithBody, attempts: Vec<RecordedAttempt>) -> Result<Self, CommandError> {
        let event = &found.event;
        let body = serde_json::from_slice(&found.body)?;
        let to_attempt_view = |attempt: RecordedAttempt| AttemptView {
            number: attempt.number,
            started_at: attempt.started_at.to_string(),
            status: attempt.status,
            cause: attempt.error,
            duration_ms: attempt.duration.as_millis(),
            response_headers: attempt.response_headers,
            response_body: attempt
                .status
                .map(|_| String::from_utf8_lossy(&attempt.response_body).into_owned()),
        };
        Ok(Self {
            id: event.id.as_uuid(),
            provider_id: event.provider_id.as_uuid(),
            r#type: event.kind.name(),
            state: event.state.name(),
            created_at: event.created_at.to_string(),
            next_attempt_at: event.next_attempt_at.map(|at| at.to_string()),
            body,
            attempts: attempts.into_iter().map(to_attempt_view).collect(),
        })
    }
}

impl CommandView for EventView {
    fn to_text(&self) -> String {
        let (id, provider) = (self.id.to_string(), self.provider_id.to_string());
        let field_text = format_fields(&[
            ("id", &id),
            ("provider", &provider),
            ("type", self.r#type),
            ("state", self.state),
            ("created", &self.created_at),
            ("next attempt", &or_dash(self.next_attempt_at.as_ref())),
        ]);
        let rows = self.attempts.iter().map(|attempt| {
            let status = or_dash(attempt.status);
            let (number, took) = (attempt.number.to_string(), format!("{} ms", attempt.duration_ms));
            let response: String = attempt
                .response_body
                .iter()
                .flat_map(|body| body.chars())
                .take(RESPONSE_CHARACTERS_MAX)
                .collect();
            let cause = attempt.cause.clone().unwrap_or_default();
            vec![number, attempt.started_at.clone(), status, took, cause, response.replace(['\n', '\r'], " ")]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        let attempts = match rows.as_slice() {
            [] => "no attempts yet".to_owned(),
            rows => format_table(&["attempt", "started", "status", "took", "cause", "response"], rows),
        };
        let response = self.attempts.iter().rev().find_map(AttemptView::to_response_text).unwrap_or_default();
        format!("{field_text}\n\n{}\n\n{attempts}{response}", self.body)
    }
}

impl AttemptView {
    /// The stored headers and body of the response, as a block of text. `None` if there was no response.
    fn to_response_text(&self) -> Option<String> {
        let status = self.status?;
        let headers = self.response_headers.as_deref().unwrap_or_default();
        let body = self.response_body.as_deref().unwrap_or_default();
        let parts = [headers, body].map(|part| indent_lines(part.trim_end()));
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let content = if parts.is_empty() { "  (empty)\n".to_owned() } else { parts.join("\n") };
        let title = format!("response to attempt {}, status {status}:", self.number);
        Some(format!("\n\n{title}\n{}", content.trim_end_matches('\n')))
    }
}

fn indent_lines(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

impl RunnableCommand for Show {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let id = EventId::from_uuid(self.id);
        let found = environment.store.read_snapshot(|reads| -> Result<_, StoreError> {
            let Some(event) = reads.find_event_any_provider(id)? else { return Ok(None) };
            Ok(Some((event, reads.list_attempts(id, SHOWN_ATTEMPTS_MAX)?)))
        })?;
        let (event, attempts) =
            found.ok_or_else(|| CommandError::refused(format!("no event has the id {id}")))?;
        EventView::from_event(&event, attempts)?.to_output()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_response_has_headers_and_body() {
        let check = |headers: Option<&str>, body: Option<&str>, expected: Option<&str>| {
            let attempt = AttemptView {
                number: 3,
                started_at: String::new(),
                status: body.map(|_| 503),
                cause: None,
                duration_ms: 1,
                response_headers: headers.map(str::to_owned),
                response_body: body.map(str::to_owned),
            };
            let expected = expected.map(|text| format!("\n\nresponse to attempt 3, status 503:\n{text}"));
            assert_eq!(attempt.to_response_text(), expected);
        };
        check(
            Some("retry-after: 30\nserver: x\n"),
            Some("down\nfor now"),
            Some("  retry-after: 30\n  server: x\n\n  down\n  for now"),
        );
        check(None, Some("down"), Some("  down"));
        check(None, Some(""), Some("  (empty)"));
        check(None, None, None);
    }
}

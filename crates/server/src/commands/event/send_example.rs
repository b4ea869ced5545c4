//! `guerdon webhook send-example`: sends a signed event with sample data to test a receiver.

use guerdon_domain::audit_log::Action;
use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{Clock as _, IdGenerator as _, StoreExt as _};
use guerdon_domain::values::EventId;
use guerdon_webhook_dispatcher::{DeliveryRequest, EventSender as _, render_example};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::{
    CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand, append_audit_entry,
};
use crate::platform::{SystemClock, SystemIds};
use crate::transports::build_event_sender;

/// Send a signed example event.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct SendExample {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    provider_id: ProviderArgument,
    #[arg(
        long,
        value_name = "TYPE",
        help = format!("Event type: {}", EventKind::list_names()),
        value_parser = check_event_kind
    )]
    r#type: String,
}

fn check_event_kind(text: &str) -> Result<String, String> {
    EventKind::from_name(text)
        .map(|kind| kind.name().to_owned())
        .ok_or_else(|| format!("must be {}", EventKind::list_names()))
}

/// The response of the receiver.
#[derive(Serialize)]
struct ExampleView {
    event_id: Uuid,
    r#type: &'static str,
    url: String,
    confirmed: bool,
    status: Option<u16>,
    cause: Option<String>,
    duration_ms: u128,
    response: String,
}

impl CommandView for ExampleView {
    fn to_text(&self) -> String {
        let result = match (&self.status, &self.cause) {
            (_, Some(cause)) => cause.clone(),
            (Some(status), None) => status.to_string(),
            (None, None) => "nothing".to_owned(),
        };
        let response = if self.response.is_empty() {
            String::new()
        } else {
            format!("\n{}", self.response.escape_debug())
        };
        let confirmation = if self.confirmed { "confirmed" } else { "not confirmed" };
        format!(
            "{} to {}: {confirmation}, {result} in {} ms{response}",
            self.r#type, self.url, self.duration_ms
        )
    }
}

impl RunnableCommand for SendExample {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let kind = EventKind::from_name(&self.r#type)
            .ok_or_else(|| CommandError::refused(format!("--type must be {}", EventKind::list_names())))?;
        let id = self.provider_id.find_id(environment)?;
        let found = environment.store.read_snapshot(|reads| reads.find_provider(id))?;
        let provider = found.ok_or_else(|| CommandError::Refused(format!("no provider has the id {id}")))?;
        let url = provider.callback_url.clone();
        let url = url.ok_or_else(|| CommandError::refused("the provider has no callback URL"))?;
        let body = render_example(kind, &SystemIds, SystemClock.now())
            .map_err(|cause| CommandError::refused(cause.to_string()))?;
        let sender = build_event_sender(&environment.settings, &environment.keys)?;
        let event = EventId::from_uuid(SystemIds.next_id());
        // The audit entry comes first, so that nothing is sent without one.
        append_audit_entry(
            environment,
            |entry| entry.with_provider(id).with_object(event.as_uuid()),
            Action::ExampleSent,
        )?;
        let outcome = sender.attempt_delivery(&DeliveryRequest { provider: &provider, event, body: &body });
        let confirmed = outcome.failure.is_none();
        let outcome_view = ExampleView {
            event_id: event.as_uuid(),
            r#type: kind.name(),
            url,
            confirmed,
            status: outcome.status,
            cause: outcome.failure,
            duration_ms: outcome.duration.as_millis(),
            response: String::from_utf8_lossy(&outcome.response_body).into_owned(),
        };
        Ok(CommandOutput { status: u8::from(!confirmed), ..outcome_view.to_output()? })
    }
}

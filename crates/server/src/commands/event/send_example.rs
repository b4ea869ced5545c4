//! `guerdon webhook send-example`: sends one signed event with invented data, to test a receiver.

use guerdon_domain::audit_log::Action;
use guerdon_domain::events::{Event, EventKind, RecognitionEvent, RedemptionEvent, SenderName};
use guerdon_domain::money::Points;
use guerdon_domain::ports::{Clock as _, EventBodies as _, Ids as _, StoreError, StoreExt as _};
use guerdon_domain::recognitions::{Recognition, Sender};
use guerdon_domain::users::Person;
use guerdon_domain::values::{
    CompanyId, EmailAddress, EventId, InvalidValue, Line, Message, OccasionId, RecognitionId, UserId,
};
use guerdon_webhook_dispatcher::{Bodies, Courier as _, Order};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::ProviderName;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View, append_audit_entry};
use crate::platform::{SystemClock, SystemIds};
use crate::transports::build_courier;

/// Send a signed example event.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct SendExample {
    /// The provider: an id or a name
    #[arg(value_name = "PROVIDER")]
    provider_id: ProviderName,
    /// Event type: recognition.received, recognition.updated or redemption.created
    #[arg(long, value_name = "TYPE")]
    r#type: String,
}

/// The response of the receiver.
#[derive(Serialize)]
struct ExampleOutcome {
    event_id: Uuid,
    r#type: &'static str,
    url: String,
    confirmed: bool,
    status: Option<u16>,
    cause: Option<String>,
    duration_ms: u128,
    answer: String,
}

impl View for ExampleOutcome {
    fn text(&self) -> String {
        let said = match (&self.status, &self.cause) {
            (_, Some(cause)) => cause.clone(),
            (Some(status), None) => status.to_string(),
            (None, None) => "nothing".to_owned(),
        };
        let answer =
            if self.answer.is_empty() { String::new() } else { format!("\n{}", self.answer.escape_debug()) };
        let word = if self.confirmed { "confirmed" } else { "not confirmed" };
        format!("{} to {}: {word}, {said} in {} ms{answer}", self.r#type, self.url, self.duration_ms)
    }
}

impl Runnable for SendExample {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let kind = EventKind::from_name(&self.r#type).ok_or_else(|| {
            CommandError::refused(
                "--type must be recognition.received, recognition.updated or redemption.created",
            )
        })?;
        let id = self.provider_id.find_id(environment)?;
        let found = environment.store.snapshot(|reads| -> Result<_, StoreError> { reads.provider(id) })?;
        let provider = found.ok_or_else(|| CommandError::refused("no provider has this id"))?;
        let url = provider.callback_url.clone();
        let url = url.ok_or_else(|| CommandError::refused("the provider has no callback URL"))?;
        let body = example(kind).map_err(CommandError::refused)?;
        let courier = build_courier(&environment.settings, &environment.keys)
            .map_err(|error| CommandError::failed(&error))?;
        let event = EventId::from_uuid(SystemIds.next());
        let outcome = courier.attempt(&Order { provider: &provider, event, body: &body });
        let confirmed = outcome.cause.is_none();
        append_audit_entry(
            environment,
            |entry| entry.of_provider(id).about(event.as_uuid()),
            Action::ExampleSent,
        )?;
        let outcome_view = ExampleOutcome {
            event_id: event.as_uuid(),
            r#type: kind.name(),
            url,
            confirmed,
            status: outcome.status,
            cause: outcome.cause,
            duration_ms: outcome.duration.as_millis(),
            answer: String::from_utf8_lossy(&outcome.answer).into_owned(),
        };
        Ok(Output { status: u8::from(!confirmed), ..outcome_view.output()? })
    }
}

/// Renders the body of an event with invented users and new ids.
fn example(kind: EventKind) -> Result<Vec<u8>, String> {
    let describe = |error: InvalidValue| error.to_string();
    let company_id = CompanyId::from_uuid(SystemIds.next());
    let receiver = Person {
        id: UserId::from_uuid(SystemIds.next()),
        company_id,
        first_name: Line::parse("Grace").map_err(describe)?,
        last_name: Some(Line::parse("Hopper").map_err(describe)?),
        email: EmailAddress::parse("grace@example.com").map_err(describe)?,
        manager: false,
        active: true,
    };
    let points = Points::new(10).unwrap_or_default();
    let recognition = Recognition {
        id: RecognitionId::from_uuid(SystemIds.next()),
        receiver_id: receiver.id,
        sender: Sender::User(UserId::from_uuid(SystemIds.next())),
        message: Message::parse("This is an example.").map_err(describe)?,
        points,
        share: true,
        occasion_id: OccasionId::from_uuid(SystemIds.next()),
        company_id,
        created_at: SystemClock.now(),
    };
    let sender = SenderName { name: "Ada Lovelace", email: Some("ada@example.com") };
    let recognised = RecognitionEvent {
        recognition: &recognition,
        sender: &sender,
        receiver: &receiver,
        occasion_name: "An example",
    };
    let event = match kind {
        EventKind::RecognitionReceived => Event::RecognitionReceived(recognised),
        EventKind::RecognitionUpdated => Event::RecognitionUpdated(recognised),
        EventKind::RedemptionCreated => Event::RedemptionCreated(RedemptionEvent {
            user: &receiver,
            points,
            cumulative_points_spent: points,
        }),
    };
    Bodies.body(&event).map_err(|error| error.to_string())
}

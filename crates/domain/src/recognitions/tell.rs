//! The events about recognitions (behaviour 23.3).

use crate::model::{Cause, Company, Event, Person, Recognition, RecognitionEvent, SenderName};
use crate::ports::{Context, NewEvent, Outbox, ReadProviders, StoreError};
use crate::values::ProviderId;

/// How many events are rendered before they are handed to the store: thousands of bodies are never held at once.
const SLICE_MAX: usize = 256;
/// About how many bytes of their bodies.
const SLICE_BYTES: usize = 1 << 20;
/// About the bytes of a body without its message.
const BODY_BYTES: usize = 1 << 10;

/// What the events of one sending have in common.
pub(super) struct Told<'a> {
    /// Why they are told.
    pub(super) cause: &'a Cause,
    /// Who is told.
    pub(super) provider: ProviderId,
    /// The company in which it happened.
    pub(super) company: &'a Company,
    /// The sending user; none where the company sent.
    pub(super) sender: Option<&'a Person>,
    pub(super) occasion_name: &'a str,
}

/// Queues one event for each recognition; `receivers` stand in the same order.
pub(super) fn tell<T: Outbox + ReadProviders + ?Sized>(
    tx: &mut T,
    event: fn(RecognitionEvent<'_>) -> Event<'_>,
    told: &Told<'_>,
    recognitions: &[Recognition],
    receivers: &[Person],
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let sender_name = told.sender.map(Person::name);
    let sender = SenderName {
        name: sender_name.as_deref().unwrap_or(told.company.name.as_str()),
        email: told.sender.map(|it| it.email.as_str()),
    };
    let addressed = tx.provider(told.provider)?.is_some_and(|it| it.callback_url.is_some());
    let occasion_name = told.occasion_name;
    let one = |(recognition, receiver): (&Recognition, &Person)| -> Result<NewEvent, StoreError> {
        let event = event(RecognitionEvent { recognition, sender: &sender, receiver, occasion_name });
        Ok(NewEvent {
            id: event.id(told.cause.id),
            company_id: told.company.id,
            provider_id: told.provider,
            kind: event.kind(),
            cause: told.cause.id,
            body: context.bodies.body(&event)?,
            addressed,
            created_at: told.cause.created_at,
        })
    };
    let message = recognitions.iter().map(|it| it.message.as_str().len()).max().unwrap_or_default();
    let slice = SLICE_BYTES.checked_div(BODY_BYTES + message).unwrap_or_default().clamp(1, SLICE_MAX);
    for (recognitions, receivers) in recognitions.chunks(slice).zip(receivers.chunks(slice)) {
        let events: Result<Vec<NewEvent>, StoreError> = recognitions.iter().zip(receivers).map(one).collect();
        tx.queue_events(&events?)?;
    }
    Ok(())
}

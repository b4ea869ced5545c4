//! The events about recognitions (spec §6.4).

use super::Recognition;
use crate::companies::Company;
use crate::events::{RecognitionEvent, SenderName};
use crate::ports::{Context, EventKind, NewEvent, StoreError, Tx};
use crate::users::Person;
use crate::values::{EventId, ProviderId};

/// What the events of one sending have in common.
pub(super) struct Told<'a> {
    /// Who is told.
    pub(super) provider: ProviderId,
    /// The company in which it happened.
    pub(super) company: &'a Company,
    /// The sending user; none where the company sent.
    pub(super) sender: Option<&'a Person>,
    /// The occasion's name.
    pub(super) occasion_name: &'a str,
}

/// Queues one event for each recognition; `receivers` stand in the same order.
pub(super) fn tell(
    tx: &mut dyn Tx,
    kind: EventKind,
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
    let created_at = context.clock.now();
    let occasion_name = told.occasion_name;
    let one = |(recognition, receiver): (&Recognition, &Person)| NewEvent {
        id: EventId::from_uuid(context.ids.next()),
        provider_id: told.provider,
        kind,
        cause: recognition.id.as_uuid(),
        body: context
            .bodies
            .recognition(kind, &RecognitionEvent { recognition, sender: &sender, receiver, occasion_name }),
        addressed,
        created_at,
    };
    let events: Vec<NewEvent> = recognitions.iter().zip(receivers).map(one).collect();
    tx.queue_events(&events)
}

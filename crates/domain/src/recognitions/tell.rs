//! The events about recognitions (behaviour 23.3).

use crate::model::{
    Company, Event, JournalEntry, NewEvent, Person, Recognition, RecognitionEvent, SenderName,
};
use crate::ports::{Context, Unrenderable};

/// What the events of one sending have in common.
pub(super) struct Told<'a> {
    /// The journal entry that the events belong to.
    pub(super) cause: &'a JournalEntry,
    /// The company of the recognition. Its provider receives the events.
    pub(super) company: &'a Company,
    /// Whether that provider has a callback URL.
    pub(super) has_callback: bool,
    /// The sending user; `None` if the company sent.
    pub(super) sender: Option<&'a Person>,
    pub(super) occasion_name: &'a str,
}

/// One event for each recognition with its receiver.
pub(super) fn tell<'a>(
    event: for<'e> fn(RecognitionEvent<'e>) -> Event<'e>,
    told: &Told<'_>,
    recognitions: impl Iterator<Item = (&'a Recognition, &'a Person)>,
    context: &Context<'_>,
) -> Result<Vec<NewEvent>, Unrenderable> {
    let sender_name = told.sender.map(Person::name);
    let sender = SenderName {
        name: sender_name.as_deref().unwrap_or(told.company.name.as_str()),
        email: told.sender.map(|sender| sender.email.as_str()),
    };
    let occasion_name = told.occasion_name;
    recognitions
        .map(|(recognition, receiver)| {
            let event = event(RecognitionEvent { recognition, sender: &sender, receiver, occasion_name });
            Ok(NewEvent {
                id: event.id(told.cause.id),
                company_id: told.company.id,
                provider_id: told.company.provider_id,
                kind: event.kind(),
                cause: told.cause.id,
                body: context.bodies.body(&event)?,
                addressed: told.has_callback,
                created_at: told.cause.created_at,
            })
        })
        .collect()
}

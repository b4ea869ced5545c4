//! The events about recognitions (behaviour 23.3).

use crate::model::{
    Company, Event, JournalEntry, NewEvent, Recognition, RecognitionEvent, SenderName, UserSummary,
};
use crate::ports::{Context, RenderError};

/// The data that the events of one request share.
pub(super) struct EventContext<'a> {
    /// The journal entry that the events belong to.
    pub(super) entry: &'a JournalEntry,
    /// The company of the recognition. Its provider receives the events.
    pub(super) company: &'a Company,
    /// Whether that provider has a callback URL.
    pub(super) has_callback: bool,
    /// The sending user; `None` if the company sent.
    pub(super) sender: Option<&'a UserSummary>,
    pub(super) occasion_name: &'a str,
}

/// Renders one event for each pair of a recognition and its receiver.
pub(super) fn build_events<'a>(
    event: for<'e> fn(RecognitionEvent<'e>) -> Event<'e>,
    event_context: &EventContext<'_>,
    recognitions: impl Iterator<Item = (&'a Recognition, &'a UserSummary)>,
    context: &Context<'_>,
) -> Result<Vec<NewEvent>, RenderError> {
    let sender_name = event_context.sender.map(UserSummary::full_name);
    let sender = SenderName {
        name: sender_name.as_deref().unwrap_or(event_context.company.name.as_str()),
        email: event_context.sender.map(|sender| sender.email.as_str()),
    };
    let occasion_name = event_context.occasion_name;
    recognitions
        .map(|(recognition, receiver)| {
            let event = event(RecognitionEvent { recognition, sender: &sender, receiver, occasion_name });
            context.new_event(&event, event_context.entry, event_context.has_callback)
        })
        .collect()
}

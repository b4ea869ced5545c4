//! Changing a recognition, for the operator (behaviour 23.2).

use super::events::{EventContext, build_events};
use crate::any_provider;
use crate::model::{
    Company, EntryKind, Event, JournalEntry, Recognition, RecognitionEvent, Sender, UserSummary,
};
use crate::ports::{
    Context, JournalEntries, LockableRow, Locks, Lookup, Outbox, ReadCompanies, ReadOccasions, ReadProviders,
    ReadUsers, Recognitions, StoreError,
};
use crate::values::{Message, ProviderId, RecognitionId, UserId};

/// The changes to make. Fields that are `None` do not change.
#[derive(Debug, Clone, Default)]
pub struct UpdateRecognition {
    pub message: Option<Message>,
    /// Whether it is public.
    pub share: Option<bool>,
}

/// Why a recognition was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateRecognitionError {
    #[error("no recognition has this id")]
    NoSuchRecognition,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes a recognition, and queues an event to the company's provider if anything changed.
pub fn update<T>(
    tx: &mut T,
    id: RecognitionId,
    update: &UpdateRecognition,
    context: &Context<'_>,
) -> Result<Recognition, UpdateRecognitionError>
where
    T: JournalEntries
        + Locks
        + Outbox
        + ReadCompanies
        + ReadOccasions
        + ReadProviders
        + ReadUsers
        + Recognitions
        + ?Sized,
{
    let missing = |what: &str| StoreError::Broken(format!("recognition {id} has no {what}"));
    let found = tx.find_recognition_any_provider(id)?.ok_or(UpdateRecognitionError::NoSuchRecognition)?;
    let company = any_provider::lock_provider_and_find_company(tx, found.company_id)?
        .ok_or_else(|| missing("company"))?;
    tx.lock_row(LockableRow::Recognition(id))?;
    let before = tx.find_recognition_any_provider(id)?.ok_or_else(|| missing("row any more"))?;
    let message = update.message.clone().filter(|message| *message != before.message);
    let share = update.share.filter(|share| *share != before.share);
    if message.is_none() && share.is_none() {
        return Ok(before);
    }
    let recognition = Recognition {
        message: message.clone().unwrap_or_else(|| before.message.clone()),
        share: share.unwrap_or(before.share),
        ..before
    };
    tx.amend_recognition(id, message.as_ref(), share)?;
    let entry = context.new_journal_entry(&company, EntryKind::Amendment { recognition: id, message, share });
    tx.record_journal_entry(&entry)?;
    queue_update_event(tx, &company, &entry, &recognition, context)?;
    Ok(recognition)
}

fn queue_update_event<T>(
    tx: &mut T,
    company: &Company,
    entry: &JournalEntry,
    recognition: &Recognition,
    context: &Context<'_>,
) -> Result<(), StoreError>
where
    T: Outbox + ReadOccasions + ReadProviders + ReadUsers + ?Sized,
{
    let missing = |what: &str| StoreError::Broken(format!("recognition {} has no {what}", recognition.id));
    let provider = company.provider_id;
    let receiver = find_user(tx, provider, recognition.receiver_id)?.ok_or_else(|| missing("receiver"))?;
    let sender = match recognition.sender {
        Sender::Company(_) => None,
        Sender::User(id) => Some(find_user(tx, provider, id)?.ok_or_else(|| missing("sender"))?),
    };
    let occasion_name = tx.find_occasion_name(recognition.occasion_id)?.ok_or_else(|| missing("occasion"))?;
    let has_callback = tx.find_provider(provider)?.is_some_and(|provider| provider.callback_url.is_some());
    let occasion_name = occasion_name.as_str();
    let event_context = EventContext { entry, company, has_callback, sender: sender.as_ref(), occasion_name };
    let amended = std::iter::once((recognition, &receiver));
    tx.queue_events(&build_events(updated_event, &event_context, amended, context)?)
}

fn find_user<T: ReadUsers + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: UserId,
) -> Result<Option<UserSummary>, StoreError> {
    Ok(tx.find_user_summaries(scope, &[id])?.pop().and_then(Lookup::own))
}

fn updated_event(event: RecognitionEvent<'_>) -> Event<'_> {
    Event::RecognitionUpdated(event)
}

//! Changing a recognition, for the operator (behaviour 23.2).

use super::tell::{Told, tell};
use crate::look_up;
use crate::model::{Act, Company, Event, JournalEntry, Person, Recognition, RecognitionEvent, Sender};
use crate::ports::{
    Context, JournalEntries, Locks, Lookup, Outbox, ReadCompanies, ReadOccasions, ReadProviders, ReadUsers,
    Recognitions, Row, StoreError,
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
    command: &UpdateRecognition,
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
    let found = tx.recognition(id)?.ok_or(UpdateRecognitionError::NoSuchRecognition)?;
    let company = look_up::kept_company(tx, found.company_id)?.ok_or_else(|| missing("company"))?;
    tx.hold(Row::Recognition(id))?;
    let before = tx.recognition(id)?.ok_or_else(|| missing("row any more"))?;
    let message = command.message.clone().filter(|message| *message != before.message);
    let share = command.share.filter(|share| *share != before.share);
    if message.is_none() && share.is_none() {
        return Ok(before);
    }
    let recognition = Recognition {
        message: message.clone().unwrap_or_else(|| before.message.clone()),
        share: share.unwrap_or(before.share),
        ..before
    };
    tx.amend_recognition(id, message.as_ref(), share)?;
    let cause = context.cause(&company, Act::Amendment { recognition: id, message, share });
    tx.record(&cause)?;
    tell_of(tx, &company, &cause, &recognition, context)?;
    Ok(recognition)
}

fn tell_of<T>(
    tx: &mut T,
    company: &Company,
    cause: &JournalEntry,
    recognition: &Recognition,
    context: &Context<'_>,
) -> Result<(), StoreError>
where
    T: Outbox + ReadOccasions + ReadProviders + ReadUsers + ?Sized,
{
    let missing = |what: &str| StoreError::Broken(format!("recognition {} has no {what}", recognition.id));
    let provider = company.provider_id;
    let receiver = person(tx, provider, recognition.receiver_id)?.ok_or_else(|| missing("receiver"))?;
    let sender = match recognition.sender {
        Sender::Company(_) => None,
        Sender::User(id) => Some(person(tx, provider, id)?.ok_or_else(|| missing("sender"))?),
    };
    let occasion_name = tx.occasion_name(recognition.occasion_id)?.ok_or_else(|| missing("occasion"))?;
    let has_callback = tx.provider(provider)?.is_some_and(|provider| provider.callback_url.is_some());
    let occasion_name = occasion_name.as_str();
    let told = Told { cause, company, has_callback, sender: sender.as_ref(), occasion_name };
    let amended = std::iter::once((recognition, &receiver));
    tx.queue_events(&tell(updated, &told, amended, context)?)
}

fn person<T: ReadUsers + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    id: UserId,
) -> Result<Option<Person>, StoreError> {
    Ok(match tx.people(scope, &[id])?.pop() {
        Some(Lookup::Own(person)) => Some(person),
        Some(Lookup::Absent | Lookup::Foreign) | None => None,
    })
}

fn updated(event: RecognitionEvent<'_>) -> Event<'_> {
    Event::RecognitionUpdated(event)
}

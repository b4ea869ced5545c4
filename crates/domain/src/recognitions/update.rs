//! Changing a recognition, for the operator (contract §8.1, §9).

use super::tell::{Told, tell};
use super::{Recognition, Sender};
use crate::companies;
use crate::ports::{Context, EventKind, Lookup, Row, StoreError, Tx};
use crate::users::Person;
use crate::values::{Message, ProviderId, RecognitionId, UserId};

/// What changes; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct UpdateRecognition {
    /// What it says.
    pub message: Option<Message>,
    /// Whether it is public.
    pub share: Option<bool>,
}

/// Why a recognition was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateRecognitionError {
    /// There is no such recognition.
    #[error("no recognition has this id")]
    NoSuchRecognition,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Changes a recognition, and tells the company's provider where anything changed.
pub fn update(
    tx: &mut dyn Tx,
    id: RecognitionId,
    command: &UpdateRecognition,
    context: &Context<'_>,
) -> Result<Recognition, UpdateRecognitionError> {
    tx.hold(Row::Recognition(id))?;
    let before = tx.recognition(id)?.ok_or(UpdateRecognitionError::NoSuchRecognition)?;
    let mut recognition = before.clone();
    if let Some(message) = &command.message {
        recognition.message = message.clone();
    }
    recognition.share = command.share.unwrap_or(recognition.share);
    if recognition != before {
        tx.update_recognition(&recognition)?;
        tell_of(tx, &recognition, context)?;
    }
    Ok(recognition)
}

fn tell_of(tx: &mut dyn Tx, recognition: &Recognition, context: &Context<'_>) -> Result<(), StoreError> {
    let missing = |what: &str| StoreError::Broken(format!("recognition {} has no {what}", recognition.id));
    let company = companies::for_operator(tx, recognition.company_id)?.ok_or_else(|| missing("company"))?;
    let provider = company.provider_id;
    let receiver = person(tx, provider, recognition.receiver_id)?.ok_or_else(|| missing("receiver"))?;
    let sender = match recognition.sender {
        Sender::Company(_) => None,
        Sender::User(id) => Some(person(tx, provider, id)?.ok_or_else(|| missing("sender"))?),
    };
    let occasion_name = tx.occasion_name(recognition.occasion_id)?.ok_or_else(|| missing("occasion"))?;
    let told =
        Told { provider, company: &company, sender: sender.as_ref(), occasion_name: occasion_name.as_str() };
    let kind = EventKind::RecognitionUpdated;
    tell(tx, kind, &told, std::slice::from_ref(recognition), &[receiver], context)
}

fn person(tx: &mut dyn Tx, scope: ProviderId, id: UserId) -> Result<Option<Person>, StoreError> {
    Ok(match tx.people(scope, &[id])?.pop() {
        Some(Lookup::Own(person)) => Some(person),
        Some(Lookup::Absent | Lookup::Foreign) | None => None,
    })
}

//! Events: their kinds, contents and states.

use super::{Action, EventFacts, Recognition, UserSummary};
use crate::money::Points;
use crate::values::{CompanyId, EventId, JournalEntryId, ProviderId, Timestamp, stored_enum};

stored_enum! {
    /// The kinds of events, by their names in the envelope.
    enum EventKind {
        RecognitionReceived => 1, "recognition.received";
        RecognitionUpdated => 2, "recognition.updated";
        RedemptionCreated => 3, "redemption.created";
    }
}

/// What an event reports of its journal entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventSubject {
    /// One of the recognitions that the entry sent. Each has an event, with the id of the recognition.
    SentRecognition,
    /// The recognition that the entry amended.
    AmendedRecognition,
    /// The user that the entry names as its subject.
    User,
}

impl EventKind {
    /// The action of the journal entry that causes the event.
    pub fn action(self) -> Action {
        match self {
            Self::RecognitionReceived => Action::RecognitionSent,
            Self::RecognitionUpdated => Action::RecognitionUpdated,
            Self::RedemptionCreated => Action::Redeemed,
        }
    }

    /// What the event reports of that entry.
    pub fn subject(self) -> EventSubject {
        match self {
            Self::RecognitionReceived => EventSubject::SentRecognition,
            Self::RecognitionUpdated => EventSubject::AmendedRecognition,
            Self::RedemptionCreated => EventSubject::User,
        }
    }

    /// What happened, in one line, for integrators.
    pub fn summary(self) -> &'static str {
        match self {
            Self::RecognitionReceived => "A user received a recognition",
            Self::RecognitionUpdated => "The operator changed a recognition",
            Self::RedemptionCreated => "A user spent points on a reward",
        }
    }
}

stored_enum! {
    /// The delivery state of an event.
    enum EventState {
        /// The event waits for its next attempt.
        Pending => 1, "pending";
        /// The receiver confirmed the event.
        Delivered => 2, "delivered";
        /// The final attempt failed. The event is still stored.
        Exhausted => 3, "exhausted";
        /// The provider had no callback URL. The event is still stored.
        Unaddressed => 4, "unaddressed";
    }
}

/// The content of an event, including the names of users and companies.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    RecognitionReceived(RecognitionEvent<'a>),
    RecognitionUpdated(RecognitionEvent<'a>),
    RedemptionCreated(RedemptionEvent<'a>),
}

impl Event<'_> {
    pub fn kind(&self) -> EventKind {
        match self {
            Self::RecognitionReceived(_) => EventKind::RecognitionReceived,
            Self::RecognitionUpdated(_) => EventKind::RecognitionUpdated,
            Self::RedemptionCreated(_) => EventKind::RedemptionCreated,
        }
    }

    /// The id of the subject: a recognition if the entry sent some, otherwise the journal entry itself. Each
    /// subject has one event.
    pub fn id_for_entry(&self, entry_id: JournalEntryId) -> EventId {
        EventId::from_uuid(match self {
            Self::RecognitionReceived(event) => event.recognition.id.as_uuid(),
            Self::RecognitionUpdated(_) | Self::RedemptionCreated(_) => entry_id.as_uuid(),
        })
    }

    /// The facts that the body must contain.
    pub fn facts(&self) -> EventFacts {
        let kind = self.kind();
        match self {
            Self::RecognitionReceived(event) | Self::RecognitionUpdated(event) => EventFacts {
                kind,
                object_id: event.recognition.id.as_uuid(),
                company: event.recognition.company_id.as_uuid(),
                sender: Some(event.recognition.sender.id()),
                receiver: Some(event.recognition.receiver_id.as_uuid()),
                points: event.recognition.points.get(),
            },
            Self::RedemptionCreated(event) => EventFacts {
                kind,
                object_id: event.user.id.as_uuid(),
                company: event.user.company_id.as_uuid(),
                sender: None,
                receiver: None,
                points: event.points.get(),
            },
        }
    }
}

/// The sender as an event shows it.
#[derive(Debug, Clone)]
pub struct SenderName<'a> {
    /// The full name of a user, or the company's name.
    pub name: &'a str,
    /// The user's address; `None` for a company.
    pub email: Option<&'a str>,
}

/// A recognition with the names that its event contains.
#[derive(Debug, Clone)]
pub struct RecognitionEvent<'a> {
    pub recognition: &'a Recognition,
    pub sender: &'a SenderName<'a>,
    pub receiver: &'a UserSummary,
    pub occasion_name: &'a str,
}

/// A redemption with the values that its event contains.
#[derive(Debug, Clone)]
pub struct RedemptionEvent<'a> {
    pub user: &'a UserSummary,
    /// The points of this redemption.
    pub points: Points,
    /// The total points that the user has redeemed, at the current rate.
    pub cumulative_points_spent: Points,
}

/// An event to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its id, which is the same for all attempts and replays. It is the id of the subject (recognition,
    /// amendment or redemption), and each subject has one event.
    pub id: EventId,
    pub company_id: CompanyId,
    /// The provider that receives it.
    pub provider_id: ProviderId,
    pub kind: EventKind,
    pub entry_id: JournalEntryId,
    /// The bytes to send.
    pub body: Vec<u8>,
    /// Whether the provider has a callback URL; without one the event is stored as unaddressed
    /// (behaviour 23.10).
    pub addressed: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

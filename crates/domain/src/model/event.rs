//! Events: their kinds, what each tells, and what becomes of one.

use super::{Person, Recognition};
use crate::money::Points;
use crate::values::{CauseId, CompanyId, EventId, ProviderId, Timestamp, stored};

stored! {
    /// The kinds of event, by their names in the envelope.
    enum EventKind {
        RecognitionReceived => 1, "recognition.received";
        RecognitionUpdated => 2, "recognition.updated";
        RedemptionCreated => 3, "redemption.created";
    }
}

stored! {
    /// What has become of an event.
    enum EventState {
        /// Waits for its next attempt.
        Pending => 1, "pending";
        /// Confirmed by its receiver.
        Delivered => 2, "delivered";
        /// Failed for the last time; kept.
        Exhausted => 3, "exhausted";
        /// Its provider had no callback URL; kept.
        Unaddressed => 4, "unaddressed";
    }
}

/// What an event tells, with the names that it carries.
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

    /// The id of what it tells: of a sending's many recognitions the one that was received, else the cause itself.
    /// Each is told once.
    pub fn id(&self, cause: CauseId) -> EventId {
        EventId::from_uuid(match self {
            Self::RecognitionReceived(it) => it.recognition.id.as_uuid(),
            Self::RecognitionUpdated(_) | Self::RedemptionCreated(_) => cause.as_uuid(),
        })
    }
}

/// The sender as an event names it.
#[derive(Debug, Clone)]
pub struct SenderName<'a> {
    /// The full name of a user, or the company's name.
    pub name: &'a str,
    /// The user's address; none for a company.
    pub email: Option<&'a str>,
}

/// A recognition with the names an event carries.
#[derive(Debug, Clone)]
pub struct RecognitionEvent<'a> {
    pub recognition: &'a Recognition,
    pub sender: &'a SenderName<'a>,
    pub receiver: &'a Person,
    pub occasion_name: &'a str,
}

/// A redemption as an event tells it.
#[derive(Debug, Clone)]
pub struct RedemptionEvent<'a> {
    pub user: &'a Person,
    /// The points of this redemption.
    pub points: Points,
    /// What the user has redeemed in all, at today's rate.
    pub cumulative_points_spent: Points,
}

/// An event to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Its id, constant over attempts and replays: that of what it tells of, the recognition, the amendment or the
    /// redemption, each of which is told once.
    pub id: EventId,
    pub company_id: CompanyId,
    /// To whom.
    pub provider_id: ProviderId,
    pub kind: EventKind,
    pub cause: CauseId,
    /// The bytes to send.
    pub body: Vec<u8>,
    /// Whether the provider has a callback URL; without one the event is kept, unaddressed (behaviour 23.10).
    pub addressed: bool,
    /// When it was caused.
    pub created_at: Timestamp,
}

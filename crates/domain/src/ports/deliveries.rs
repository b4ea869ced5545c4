//! Delivering what the outbox holds: claimed under a lease, attempted outside any transaction, then settled.

use std::time::Duration;

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::Provider;
use crate::values::{CompanyId, EventId, ProviderId};

/// An event claimed for one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedEvent {
    /// Its id, constant over attempts and replays.
    pub id: EventId,
    /// In which company it was caused.
    pub company_id: CompanyId,
    /// The bytes to send.
    pub body: Vec<u8>,
    /// Attempts made before, over all replays.
    pub attempts: u32,
    /// Attempts made before the last replay; the schedule counts from there.
    pub attempts_before_replay: u32,
}

/// The due events of one provider, claimed together, with where they go as of the claim.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// Whose they are: callback URL and sealed shared secret included.
    pub provider: Provider,
    /// The events, longest due first.
    pub events: Vec<ClaimedEvent>,
}

/// A wish to claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Whose events.
    pub provider: ProviderId,
    /// At most how many.
    pub limit: u16,
    /// What is due by now.
    pub now: Timestamp,
    /// Until when nobody else may claim them.
    pub until: Timestamp,
    /// The lease's id, which settling must show.
    pub lease: Uuid,
}

/// One attempt, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub id: Uuid,
    /// In which company its event was caused.
    pub company_id: CompanyId,
    /// Its number, from 1 on, over all replays.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The HTTP status, where one was received.
    pub status: Option<u16>,
    /// Why it failed, for the operator; none for a confirmed one.
    pub cause: Option<String>,
    /// The first bytes of the answer's body, at most 1 KiB.
    pub answer: Vec<u8>,
}

/// What becomes of a claimed event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Confirmed by the receiver.
    Delivered,
    /// Failed; to be tried again then.
    RetryAt(Timestamp),
    /// Failed for the last time of its schedule.
    Exhausted,
    /// Its provider has no callback URL.
    Unaddressed,
    /// Not attempted; due again then.
    Released(Timestamp),
}

/// The end of a claim on one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    pub event: EventId,
    /// The lease under which it was claimed.
    pub lease: Uuid,
    /// The attempt, where one was made.
    pub attempt: Option<Attempt>,
    /// What becomes of the event.
    pub fate: Fate,
}

impl Settlement {
    /// What becomes of a claim under which nothing was sent, since this settlement's attempt had been recorded before
    /// the event was claimed: the event is due again, no earlier than its attempt said.
    pub fn given_back(&self) -> Fate {
        match (self.fate, &self.attempt) {
            (Fate::RetryAt(at), _) => Fate::Released(at),
            (Fate::Delivered | Fate::Exhausted | Fate::Unaddressed, Some(attempt)) => {
                Fate::Released(attempt.started_at)
            }
            (fate, _) => fate,
        }
    }
}

/// By so much the clocks of several processes may differ, and one may be put right, before what is written down by the one
/// is wrong by the other. No retry comes earlier for less.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// Claiming and settling events.
pub trait Deliveries {
    /// The providers that have an event due at `now` and are not suspended.
    fn providers_with_due_events(&mut self, now: Timestamp) -> Result<Vec<ProviderId>, StoreError>;

    /// When the next event of a provider that is not suspended is due, leases counted until their end.
    fn next_event_due(&mut self) -> Result<Option<Timestamp>, StoreError>;

    /// Claims due events; skips those that another process is claiming. None where the provider is unknown or
    /// suspended.
    fn claim_events(&mut self, claim: &Claim) -> Result<Option<Claimed>, StoreError>;

    /// Writes every attempt, and the fate of every event whose lease is still the one shown.
    ///
    /// Written a second time, as after a commit whose answer was lost, the same settlements change nothing. Where the
    /// event was claimed anew in between, and the second time shows the new lease, that claim is given back
    /// ([`Settlement::given_back`]): an attempt counts once, and a fate that was written is not written over a replay.
    fn settle_events(&mut self, settlements: &[Settlement]) -> Result<(), StoreError>;

    /// Brings back what is due later than it can be, by more than [`CLOCK_TOLERANCE`]: later than `waits[n]` from `now`
    /// where n attempts have failed since the event was made or replayed, and than `lease` where it is claimed. So it is
    /// where the clock was set back. Answers how many events it was.
    fn bring_back(
        &mut self,
        now: Timestamp,
        waits: &[Duration],
        lease: Duration,
    ) -> Result<usize, StoreError>;

    /// Ends all leases: for the one process that serves an embedded database, when it starts.
    fn end_leases(&mut self, now: Timestamp) -> Result<(), StoreError>;
}

/// A mail claimed for one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedMail {
    pub id: Uuid,
    /// To whom; an address that was valid when it was queued.
    pub recipient: String,
    /// The subject, one line.
    pub subject: String,
    /// The body, plain text.
    pub body: String,
    /// Attempts made before.
    pub attempts: u16,
    /// When it was queued.
    pub created_at: Timestamp,
}

/// What becomes of a claimed mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailFate {
    /// Handed to the mail server, or written to a file.
    Sent,
    /// To be tried again then.
    RetryAt(Timestamp),
    /// Kept, and not tried again.
    GivenUp,
}

/// Claiming and settling mails.
pub trait MailDeliveries {
    /// Claims up to `limit` mails due at `now`, until `until`; skips those that another process is claiming.
    fn claim_mails(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        lease: Uuid,
        limit: u16,
    ) -> Result<Vec<ClaimedMail>, StoreError>;

    /// Writes the fate of a mail whose lease is still the one shown; written a second time, it changes nothing.
    fn settle_mail(&mut self, id: Uuid, lease: Uuid, fate: MailFate) -> Result<(), StoreError>;

    /// When the next mail is due, leases counted until their end.
    fn next_mail_due(&mut self) -> Result<Option<Timestamp>, StoreError>;
}

//! What every journal must do: one suite of cases for the one that tests play with and the one in the databases.
//!
//! Whoever has a journal writes a [`Bench`] for it and calls [`run`]. To add a case: a function in `claiming.rs` or
//! `settling.rs`, and its line in that file's `CASES`.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a case fails by panicking")]

mod claiming;
mod settling;

use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Attempt, Claim, ClaimedEvent, Fate, Settlement, Timestamp};
use guerdon_domain::values::{EventId, ProviderId};
use time::macros::datetime;
use uuid::Uuid;

use crate::dispatcher::{Journal, Look};

/// A journal of a case's own, empty at first. Time is what a case says: nothing happens by itself.
pub trait Bench {
    fn journal(&self) -> &dyn Journal;

    /// Adds a provider with a callback URL.
    fn add_provider(&self, id: ProviderId);

    /// Suspends a provider, or ends that.
    fn suspend(&self, id: ProviderId, suspended: bool);

    /// Adds an event that nobody has tried to deliver yet.
    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp);

    /// Makes an event due that had come to its end, or waits.
    fn replay(&self, id: EventId, now: Timestamp);

    /// From now on every change of how this event fares fails, and so does whatever unit of work it is part of; of none
    /// any more where there is none.
    fn break_event(&self, id: Option<EventId>);

    /// How an event fares.
    fn delivery(&self, id: EventId) -> Delivery;
}

/// How an event fares, and what was recorded of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Where it has got to.
    pub state: EventState,
    /// How many attempts it counts.
    pub attempts: u32,
    /// How many it counted at the latest replay.
    pub attempts_before_replay: u32,
    /// When it can be claimed, while it is pending.
    pub due: Option<Timestamp>,
    /// Under which lease it is.
    pub lease: Option<Uuid>,
    /// The attempts on record, number and id, in this order.
    pub recorded: Vec<(u32, Uuid)>,
}

/// Runs every case on a bench of its own; the last name on stderr is that of the case that failed.
pub fn run<B: Bench>(make: impl Fn() -> B) {
    for (name, case) in claiming::CASES.iter().chain(settling::CASES) {
        eprintln!("{name}");
        case(&make());
    }
}

/// A case and the sentence that it proves.
type Case = (&'static str, fn(&dyn Bench));

const LEASE: Duration = Duration::from_secs(60);

fn at(second: u64) -> Timestamp {
    Timestamp::new(datetime!(2026-11-20 20:00 UTC)) + Duration::from_secs(second)
}

fn provider(number: u64) -> ProviderId {
    ProviderId::from_uuid(Uuid::from_u64_pair(1, number))
}

fn event(number: u64) -> EventId {
    EventId::from_uuid(Uuid::from_u64_pair(2, number))
}

fn lease(number: u64) -> Uuid {
    Uuid::from_u64_pair(3, number)
}

/// One provider and events that are due from the first second on.
fn with_events(bench: &dyn Bench, count: u64) {
    bench.add_provider(provider(1));
    (1..=count).for_each(|number| bench.add_event(event(number), provider(1), at(0)));
}

fn claim(number: u64, now: Timestamp, limit: u16) -> Claim {
    Claim { provider: provider(1), limit, now, until: now + LEASE, lease: lease(number) }
}

/// What a look gives that claims this, whoever has events due.
fn look(bench: &dyn Bench, now: Timestamp, claims: &[Claim]) -> Look {
    bench.journal().claim_due(now, &mut |_due| claims.to_vec()).expect("a journal that serves")
}

fn claimed(bench: &dyn Bench, claim: Claim) -> Vec<ClaimedEvent> {
    look(bench, claim.now, &[claim]).claimed.into_iter().flat_map(|it| it.events).collect()
}

fn ids(events: &[ClaimedEvent]) -> Vec<EventId> {
    events.iter().map(|it| it.id).collect()
}

/// The events' deliveries, from the first on.
fn deliveries(bench: &dyn Bench, count: u64) -> Vec<Delivery> {
    (1..=count).map(|number| bench.delivery(event(number))).collect()
}

fn settle(bench: &dyn Bench, settlements: &[Settlement]) {
    bench.journal().settle(settlements).expect("a journal that serves");
}

/// The end of an attempt. Each event's attempts have ids of their own: its number's, under this lease.
fn attempted(event: &ClaimedEvent, under: u64, fate: Fate) -> Settlement {
    let number = event.attempts + 1;
    let attempt = Attempt {
        id: Uuid::from_u64_pair(under, number.into()),
        company_id: event.company_id,
        number,
        started_at: at(1),
        duration: Duration::from_millis(12),
        status: Some(if fate == Fate::Delivered { 200 } else { 503 }),
        cause: (fate != Fate::Delivered).then(|| "status 503".to_owned()),
        answer: b"answer".to_vec(),
    };
    Settlement { event: event.id, lease: lease(under), attempt: Some(attempt), fate }
}

/// The end of a claim under which nothing was sent.
fn unattempted(event: &ClaimedEvent, under: u64, fate: Fate) -> Settlement {
    Settlement { event: event.id, lease: lease(under), attempt: None, fate }
}

/// The same settlements, shown under another lease: as when their events were claimed anew.
fn under(number: u64, settlements: &[Settlement]) -> Vec<Settlement> {
    settlements.iter().map(|it| Settlement { lease: lease(number), ..it.clone() }).collect()
}

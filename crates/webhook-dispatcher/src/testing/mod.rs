//! The contract tests of a journal, which run on the journal in memory and on the store over each database.
//!
//! To test a journal, implement [`Bench`] for it and call [`journal_contract!`](crate::journal_contract), which
//! expands to one `#[test]` per case. To add a case, write a function in `claiming.rs` or `settling.rs` and add its
//! name to `journal_cases!`.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a case fails by panicking")]

use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Attempt, Claim, ClaimedEvent, Fate, Settlement, Timestamp};
use guerdon_domain::values::{EventId, ProviderId};
use time::macros::datetime;
use uuid::Uuid;

use crate::dispatcher::{Journal, Look};

/// The journal of one case, initially empty. The case sets the time; nothing runs in the background.
pub trait Bench {
    fn journal(&self) -> &dyn Journal;

    /// Adds a provider with a callback URL.
    fn add_provider(&self, id: ProviderId);

    /// Suspends or resumes a provider.
    fn suspend(&self, id: ProviderId, suspended: bool);

    /// Adds an event without delivery attempts.
    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp);

    /// Makes a delivered, exhausted or waiting event due.
    fn replay(&self, id: EventId, now: Timestamp);

    /// Makes every change to the delivery of this event fail, with the rest of its transaction. `None` ends that.
    fn break_event(&self, id: Option<EventId>);

    /// Returns the delivery of an event.
    fn delivery(&self, id: EventId) -> Delivery;
}

/// The state of an event's delivery, and its recorded attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub state: EventState,
    /// The number of counted attempts.
    pub attempts: u32,
    /// The number of counted attempts at the latest replay.
    pub attempts_before_replay: u32,
    /// When the event can be claimed, while it is pending.
    pub due: Option<Timestamp>,
    /// The lease under which the event is claimed.
    pub lease: Option<Uuid>,
    /// The recorded attempts as number and id, in this order.
    pub recorded: Vec<(u32, Uuid)>,
}

/// One case of the contract. It panics if the journal breaks the contract.
pub type Case = fn(&dyn Bench);

/// Passes the names of all cases, grouped by file, to another macro after the tokens that it is given.
#[doc(hidden)]
#[macro_export]
macro_rules! journal_cases {
    ([$($macro:tt)+] $($argument:tt)*) => {
        $($macro)+! {
            $($argument)*
            claiming {
                an_event_is_claimed_once_until_its_lease_ends
                two_claims_share_no_event
                the_event_due_for_longest_comes_first
                no_event_is_claimed_before_it_is_due
                events_of_a_suspended_provider_wait
                one_look_claims_for_several_providers
                a_claim_reports_earlier_attempts
                events_are_rescheduled_after_the_clock_moved_backwards
                a_small_clock_difference_reschedules_nothing
                a_replay_makes_a_waiting_event_due
            }
            settling {
                each_outcome_is_written_with_its_attempt
                a_repeated_settlement_changes_nothing
                a_batch_may_repeat_an_earlier_settlement
                under_a_lost_lease_only_the_attempt_is_recorded
                a_second_claim_of_a_settled_failure_is_released
                a_repeated_settlement_undoes_no_replay
                an_unwritten_settlement_is_written_under_a_second_claim
                an_attempt_recorded_under_a_lost_lease_is_released
                a_failed_batch_writes_nothing
            }
        }
    };
}

macro_rules! declare_cases {
    ($($group:ident { $($case:ident)* })*) => {
        $(mod $group;)*

        /// The cases, in a module for each subject.
        pub mod cases {
            $(
                pub mod $group {
                    $(
                        pub fn $case(bench: &dyn crate::testing::Bench) {
                            crate::testing::$group::$case(bench);
                        }
                    )*
                }
            )*
        }
    };
}

journal_cases! { [declare_cases] }

/// Expands to one `#[test]` per case, in a module for each subject: `claiming::two_claims_share_no_event`.
///
/// The argument is the absolute path of a `fn(Case)` that runs a case on an empty journal.
#[macro_export]
macro_rules! journal_contract {
    ($($run:ident)::+) => {
        $crate::journal_cases! { [$crate::journal_contract] ($($run)::+) }
    };
    (($run:path) $($group:ident { $($case:ident)* })*) => {
        $(
            mod $group {
                $(
                    #[test]
                    fn $case() {
                        $run($crate::testing::cases::$group::$case);
                    }
                )*
            }
        )*
    };
}

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

/// Adds one provider, and events that are due from the first second on.
fn with_events(bench: &dyn Bench, count: u64) {
    bench.add_provider(provider(1));
    (1..=count).for_each(|number| bench.add_event(event(number), provider(1), at(0)));
}

fn claim(number: u64, now: Timestamp, limit: u16) -> Claim {
    Claim { provider: provider(1), limit, now, until: now + LEASE, lease: lease(number) }
}

/// Reads due events and makes these claims.
fn look(bench: &dyn Bench, now: Timestamp, claims: &[Claim]) -> Look {
    bench.journal().claim_due(now, &mut |_due| claims.to_vec()).expect("a journal that serves")
}

fn claimed(bench: &dyn Bench, claim: Claim) -> Vec<ClaimedEvent> {
    look(bench, claim.now, &[claim]).claimed.into_iter().flat_map(|claimed| claimed.events).collect()
}

fn ids(events: &[ClaimedEvent]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

/// Returns the deliveries of the events, starting with the first.
fn deliveries(bench: &dyn Bench, count: u64) -> Vec<Delivery> {
    (1..=count).map(|number| bench.delivery(event(number))).collect()
}

fn settle(bench: &dyn Bench, settlements: &[Settlement]) {
    bench.journal().settle(settlements).expect("a journal that serves");
}

/// The settlement of an attempt. Attempt ids are derived from the event's number and the lease.
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

/// The settlement of a claim under which nothing was sent.
fn unattempted(event: &ClaimedEvent, under: u64, fate: Fate) -> Settlement {
    Settlement { event: event.id, lease: lease(under), attempt: None, fate }
}

/// Returns the settlements under another lease, as after a second claim of their events.
fn under(number: u64, settlements: &[Settlement]) -> Vec<Settlement> {
    settlements.iter().map(|settlement| Settlement { lease: lease(number), ..settlement.clone() }).collect()
}

//! The contract tests of delivery stores. They run on the store in memory and on the store on each database.
//!
//! To test a store, implement [`StoreHarness`] for it and call
//! [`delivery_store_contract!`](crate::delivery_store_contract), which expands to one `#[test]` per case. To add a
//! case, write a function in `claiming.rs` or `settling.rs` and add its name to `delivery_store_cases!`.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a case fails by panicking")]

use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{Attempt, ClaimRequest, ClaimedEvent, DeliveryOutcome, Settlement, Timestamp};
use guerdon_domain::values::{EventId, ProviderId};
use time::macros::datetime;
use uuid::Uuid;

use crate::dispatcher::{ClaimResult, DeliveryStore};

/// An initially empty store for one case. The case controls the time; nothing runs in the background.
pub trait StoreHarness {
    fn store(&self) -> &dyn DeliveryStore;

    /// Adds a provider with a callback URL.
    fn add_provider(&self, id: ProviderId);

    /// Suspends or resumes a provider.
    fn set_suspended(&self, id: ProviderId, suspended: bool);

    /// Adds an event without delivery attempts.
    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp);

    /// Makes a delivered, exhausted or waiting event due.
    fn replay_event(&self, id: EventId, now: Timestamp);

    /// Makes every transaction that changes the delivery of this event fail. `None` ends the failures.
    fn break_event(&self, id: Option<EventId>);

    /// Returns the delivery of an event.
    fn load_delivery(&self, id: EventId) -> DeliveryState;
}

/// The state of an event's delivery, and its recorded attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryState {
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

/// One case of the contract. It panics if the store breaks the contract.
pub type ContractCase = fn(&dyn StoreHarness);

/// Passes its tokens, followed by the names of all cases grouped by file, to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! delivery_store_cases {
    ([$($macro:tt)+] $($argument:tt)*) => {
        $($macro)+! {
            $($argument)*
            claiming {
                an_event_is_claimed_once_until_its_lease_ends
                two_claims_share_no_event
                the_event_due_for_longest_comes_first
                no_event_is_claimed_before_it_is_due
                events_of_a_suspended_provider_wait
                one_read_claims_for_several_providers
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
                        pub fn $case(harness: &dyn crate::testing::StoreHarness) {
                            crate::testing::$group::$case(harness);
                        }
                    )*
                }
            )*
        }
    };
}

delivery_store_cases! { [declare_cases] }

/// Expands to one `#[test]` per case, in a module for each subject: `claiming::two_claims_share_no_event`.
///
/// The argument is the absolute path of a `fn(ContractCase)` that runs a case on an empty store.
#[macro_export]
macro_rules! delivery_store_contract {
    ($($run:ident)::+) => {
        $crate::delivery_store_cases! { [$crate::delivery_store_contract] ($($run)::+) }
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

fn time_at(second: u64) -> Timestamp {
    Timestamp::new(datetime!(2026-11-20 20:00 UTC)) + Duration::from_secs(second)
}

fn provider_id(number: u64) -> ProviderId {
    ProviderId::from_uuid(Uuid::from_u64_pair(1, number))
}

fn event_id(number: u64) -> EventId {
    EventId::from_uuid(Uuid::from_u64_pair(2, number))
}

fn lease_id(number: u64) -> Uuid {
    Uuid::from_u64_pair(3, number)
}

/// Adds one provider, and events that are due from the first second on.
fn add_events(harness: &dyn StoreHarness, count: u64) {
    harness.add_provider(provider_id(1));
    (1..=count).for_each(|number| harness.add_event(event_id(number), provider_id(1), time_at(0)));
}

fn claim_request(number: u64, now: Timestamp, limit: u16) -> ClaimRequest {
    ClaimRequest { provider: provider_id(1), limit, now, lease_until: now + LEASE, lease: lease_id(number) }
}

/// Reads due events and makes these claims.
fn claim_due(harness: &dyn StoreHarness, now: Timestamp, claims: &[ClaimRequest]) -> ClaimResult {
    harness.store().claim_due_events(now, &mut |_due| claims.to_vec()).expect("the store is available")
}

fn claim_events(harness: &dyn StoreHarness, claim: ClaimRequest) -> Vec<ClaimedEvent> {
    claim_due(harness, claim.now, &[claim]).claimed.into_iter().flat_map(|claimed| claimed.events).collect()
}

fn event_ids(events: &[ClaimedEvent]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

/// Returns the deliveries of the events, starting with the first.
fn load_deliveries(harness: &dyn StoreHarness, count: u64) -> Vec<DeliveryState> {
    (1..=count).map(|number| harness.load_delivery(event_id(number))).collect()
}

fn settle_all(harness: &dyn StoreHarness, settlements: &[Settlement]) {
    harness.store().record_settlements(settlements).expect("the store is available");
}

/// The settlement of an attempt. Attempt ids are derived from the event's number and the lease.
fn attempt_settlement(event: &ClaimedEvent, under: u64, outcome: DeliveryOutcome) -> Settlement {
    let number = event.attempts + 1;
    let attempt = Attempt {
        id: Uuid::from_u64_pair(under, number.into()),
        company_id: event.company_id,
        number,
        started_at: time_at(1),
        duration: Duration::from_millis(12),
        status: Some(if outcome == DeliveryOutcome::Delivered { 200 } else { 503 }),
        error: (outcome != DeliveryOutcome::Delivered).then(|| "status 503".to_owned()),
        response_headers: None,
        response_body: b"answer".to_vec(),
    };
    Settlement { event: event.id, lease: lease_id(under), attempt: Some(attempt), outcome }
}

/// The settlement of an event that was claimed but not sent.
fn unsent_settlement(event: &ClaimedEvent, under: u64, outcome: DeliveryOutcome) -> Settlement {
    Settlement { event: event.id, lease: lease_id(under), attempt: None, outcome }
}

/// Returns the settlements under another lease, as after a second claim of their events.
fn under_lease(number: u64, settlements: &[Settlement]) -> Vec<Settlement> {
    settlements
        .iter()
        .map(|settlement| Settlement { lease: lease_id(number), ..settlement.clone() })
        .collect()
}

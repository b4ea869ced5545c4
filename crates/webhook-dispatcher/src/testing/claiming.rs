//! Contract cases for claiming.

use super::*;

pub(super) fn an_event_is_claimed_once_until_its_lease_ends(harness: &dyn StoreHarness) {
    add_events(harness, 1);
    assert_eq!(event_ids(&claim_events(harness, claim_request(1, time_at(0), 9))), [event_id(1)]);
    let leased = harness.load_delivery(event_id(1));
    assert_eq!((leased.state, leased.attempts), (EventState::Pending, 0));
    assert_eq!((leased.due, leased.lease), (Some(time_at(60)), Some(lease_id(1))));
    let before_its_end = claim_due(harness, time_at(59), &[claim_request(2, time_at(59), 9)]);
    assert_eq!((before_its_end.due_providers.len(), before_its_end.claimed.len()), (0, 0));
    assert_eq!(before_its_end.next_due, Some(time_at(60)));
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(60), 9))), [event_id(1)]);
    assert_eq!(harness.load_delivery(event_id(1)).lease, Some(lease_id(2)));
}

pub(super) fn two_claims_share_no_event(harness: &dyn StoreHarness) {
    add_events(harness, 5);
    assert_eq!(event_ids(&claim_events(harness, claim_request(1, time_at(0), 3))), [event_id(1), event_id(2), event_id(3)]);
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(0), 9))), [event_id(4), event_id(5)]);
    assert_eq!(claim_events(harness, claim_request(3, time_at(0), 9)), []);
    let leases: Vec<_> = load_deliveries(harness, 5).into_iter().filter_map(|delivery| delivery.lease).collect();
    assert_eq!(leases, [lease_id(1), lease_id(1), lease_id(1), lease_id(2), lease_id(2)]);
}

pub(super) fn the_event_due_for_longest_comes_first(harness: &dyn StoreHarness) {
    harness.add_provider(provider_id(1));
    for (number, due) in [(1, 3), (2, 2), (5, 1), (4, 2), (3, 2)] {
        harness.add_event(event_id(number), provider_id(1), time_at(due));
    }
    assert_eq!(event_ids(&claim_events(harness, claim_request(1, time_at(3), 3))), [event_id(5), event_id(2), event_id(3)]);
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(3), 3))), [event_id(4), event_id(1)]);
}

pub(super) fn no_event_is_claimed_before_it_is_due(harness: &dyn StoreHarness) {
    harness.add_provider(provider_id(1));
    assert_eq!(claim_due(harness, time_at(0), &[]).next_due, None);
    harness.add_event(event_id(1), provider_id(1), time_at(5));
    harness.add_event(event_id(2), provider_id(1), time_at(4));
    let early = claim_due(harness, time_at(3), &[claim_request(1, time_at(3), 9)]);
    assert_eq!((early.due_providers.len(), early.claimed.len(), early.next_due), (0, 0, Some(time_at(4))));
    let due = claim_due(harness, time_at(4), &[claim_request(1, time_at(4), 9)]);
    assert_eq!((due.due_providers.as_slice(), due.next_due), ([provider_id(1)].as_slice(), None));
    assert_eq!(claim_due(harness, time_at(4), &[]).next_due, Some(time_at(5)), "earlier than the end of the lease of claimed events");
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(5), 9))), [event_id(1)]);
}

pub(super) fn events_of_a_suspended_provider_wait(harness: &dyn StoreHarness) {
    add_events(harness, 1);
    harness.add_provider(provider_id(2));
    harness.add_event(event_id(2), provider_id(2), time_at(2));
    harness.set_suspended(provider_id(1), true);
    let early = claim_due(harness, time_at(1), &[claim_request(1, time_at(1), 9)]);
    assert_eq!((early.due_providers.len(), early.claimed.len(), early.next_due), (0, 0, Some(time_at(2))));
    let unknown_provider = ClaimRequest { provider: provider_id(7), ..claim_request(3, time_at(2), 9) };
    let suspended_claim = claim_due(harness, time_at(2), &[claim_request(1, time_at(2), 9), unknown_provider]);
    assert_eq!((suspended_claim.due_providers, suspended_claim.claimed.len()), (vec![provider_id(2)], 0));
    harness.set_suspended(provider_id(1), false);
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(2), 9))), [event_id(1)]);
}

pub(super) fn one_read_claims_for_several_providers(harness: &dyn StoreHarness) {
    for number in [3, 1, 2] {
        harness.add_provider(provider_id(number));
        harness.add_event(event_id(number), provider_id(number), time_at(0));
    }
    let claims = [2, 3].map(|number| ClaimRequest { provider: provider_id(number), ..claim_request(number, time_at(0), 9) });
    let due = claim_due(harness, time_at(0), &claims);
    assert_eq!(due.due_providers, [provider_id(1), provider_id(2), provider_id(3)]);
    let found: Vec<_> =
        due.claimed.iter().map(|claimed| (claimed.provider.id, event_ids(&claimed.events))).collect();
    assert_eq!(found, [(provider_id(2), vec![event_id(2)]), (provider_id(3), vec![event_id(3)])]);
    let leases: Vec<_> = load_deliveries(harness, 3).into_iter().map(|delivery| delivery.lease).collect();
    assert_eq!(leases, [None, Some(lease_id(2)), Some(lease_id(3))]);
}

pub(super) fn a_claim_reports_earlier_attempts(harness: &dyn StoreHarness) {
    add_events(harness, 1);
    let claimed_attempts = |number, second| -> Vec<(u32, u32)> {
        let events = claim_events(harness, claim_request(number, time_at(second), 9));
        let outcome = if number == 2 { DeliveryOutcome::Exhausted } else { DeliveryOutcome::RetryAt(time_at(second + 1)) };
        settle_all(harness, &events.iter().map(|event| attempt_settlement(event, number, outcome)).collect::<Vec<_>>());
        events.iter().map(|event| (event.attempts, event.attempts_before_replay)).collect()
    };
    assert_eq!(claimed_attempts(1, 0), [(0, 0)]);
    assert_eq!(claimed_attempts(2, 1), [(1, 0)]);
    assert_eq!(claimed_attempts(3, 9), []);
    harness.replay_event(event_id(1), time_at(9));
    assert_eq!(claimed_attempts(4, 9), [(2, 2)]);
    assert_eq!(claimed_attempts(5, 10), [(3, 2)]);
}

/// The wait of an event without attempts, and of an event after one failed attempt.
const WAITS: [Duration; 2] = [Duration::ZERO, Duration::from_secs(15)];
const DAY: u64 = 86_400;

fn reschedule_events(harness: &dyn StoreHarness, now: Timestamp) -> usize {
    harness.store().reschedule_after_clock_change(now, &WAITS, LEASE).expect("the store is available")
}

fn due_times(harness: &dyn StoreHarness, count: u64) -> Vec<Option<Timestamp>> {
    load_deliveries(harness, count).into_iter().map(|delivery| delivery.due).collect()
}

pub(super) fn events_are_rescheduled_after_the_clock_moved_backwards(harness: &dyn StoreHarness) {
    add_events(harness, 3);
    harness.add_event(event_id(4), provider_id(1), time_at(DAY + 100));
    let tried = claim_events(harness, claim_request(1, time_at(DAY), 3));
    settle_all(harness, &[attempt_settlement(&tried[0], 1, DeliveryOutcome::RetryAt(time_at(DAY + 15)))]);
    settle_all(harness, &[attempt_settlement(&tried[1], 1, DeliveryOutcome::Delivered)]);
    assert_eq!(reschedule_events(harness, time_at(10)), 3, "one failed, one in progress, one without attempts");
    assert_eq!(due_times(harness, 4), [Some(time_at(25)), None, Some(time_at(70)), Some(time_at(10))]);
    assert_eq!(reschedule_events(harness, time_at(10)), 0);
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(25), 9))), [event_id(4), event_id(1)]);
}

pub(super) fn a_small_clock_difference_reschedules_nothing(harness: &dyn StoreHarness) {
    add_events(harness, 2);
    harness.add_event(event_id(3), provider_id(1), time_at(59));
    let tried = claim_events(harness, claim_request(1, time_at(50), 2));
    settle_all(harness, &[attempt_settlement(&tried[0], 1, DeliveryOutcome::RetryAt(time_at(65)))]);
    let before = due_times(harness, 3);
    assert_eq!(reschedule_events(harness, time_at(0)), 0);
    assert_eq!(due_times(harness, 3), before);
}

pub(super) fn a_replay_makes_a_waiting_event_due(harness: &dyn StoreHarness) {
    add_events(harness, 1);
    let tried = claim_events(harness, claim_request(1, time_at(0), 1));
    settle_all(harness, &[attempt_settlement(&tried[0], 1, DeliveryOutcome::RetryAt(time_at(3_600)))]);
    harness.replay_event(event_id(1), time_at(9));
    let again = claim_events(harness, claim_request(2, time_at(9), 1));
    assert_eq!((again[0].attempts, again[0].attempts_before_replay), (1, 0), "the retry schedule continues");
}

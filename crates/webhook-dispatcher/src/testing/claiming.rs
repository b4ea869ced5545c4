//! Contract cases for claiming.

use super::*;

pub(super) fn an_event_is_claimed_once_until_its_lease_ends(bench: &dyn Bench) {
    with_events(bench, 1);
    assert_eq!(ids(&claimed(bench, claim(1, at(0), 9))), [event(1)]);
    let leased = bench.delivery(event(1));
    assert_eq!((leased.state, leased.attempts), (EventState::Pending, 0));
    assert_eq!((leased.due, leased.lease), (Some(at(60)), Some(lease(1))));
    let before_its_end = look(bench, at(59), &[claim(2, at(59), 9)]);
    assert_eq!((before_its_end.providers.len(), before_its_end.claimed.len()), (0, 0));
    assert_eq!(before_its_end.next, Some(at(60)));
    assert_eq!(ids(&claimed(bench, claim(2, at(60), 9))), [event(1)]);
    assert_eq!(bench.delivery(event(1)).lease, Some(lease(2)));
}

pub(super) fn two_claims_share_no_event(bench: &dyn Bench) {
    with_events(bench, 5);
    assert_eq!(ids(&claimed(bench, claim(1, at(0), 3))), [event(1), event(2), event(3)]);
    assert_eq!(ids(&claimed(bench, claim(2, at(0), 9))), [event(4), event(5)]);
    assert_eq!(claimed(bench, claim(3, at(0), 9)), []);
    let leases: Vec<_> = deliveries(bench, 5).into_iter().filter_map(|delivery| delivery.lease).collect();
    assert_eq!(leases, [lease(1), lease(1), lease(1), lease(2), lease(2)]);
}

pub(super) fn the_event_due_for_longest_comes_first(bench: &dyn Bench) {
    bench.add_provider(provider(1));
    for (number, due) in [(1, 3), (2, 2), (5, 1), (4, 2), (3, 2)] {
        bench.add_event(event(number), provider(1), at(due));
    }
    assert_eq!(ids(&claimed(bench, claim(1, at(3), 3))), [event(5), event(2), event(3)]);
    assert_eq!(ids(&claimed(bench, claim(2, at(3), 3))), [event(4), event(1)]);
}

pub(super) fn no_event_is_claimed_before_it_is_due(bench: &dyn Bench) {
    bench.add_provider(provider(1));
    assert_eq!(look(bench, at(0), &[]).next, None);
    bench.add_event(event(1), provider(1), at(5));
    bench.add_event(event(2), provider(1), at(4));
    let early = look(bench, at(3), &[claim(1, at(3), 9)]);
    assert_eq!((early.providers.len(), early.claimed.len(), early.next), (0, 0, Some(at(4))));
    let due = look(bench, at(4), &[claim(1, at(4), 9)]);
    assert_eq!((due.providers.as_slice(), due.next), ([provider(1)].as_slice(), None));
    assert_eq!(look(bench, at(4), &[]).next, Some(at(5)), "before the end of the lease of what is claimed");
    assert_eq!(ids(&claimed(bench, claim(2, at(5), 9))), [event(1)]);
}

pub(super) fn events_of_a_suspended_provider_wait(bench: &dyn Bench) {
    with_events(bench, 1);
    bench.add_provider(provider(2));
    bench.add_event(event(2), provider(2), at(2));
    bench.suspend(provider(1), true);
    let early = look(bench, at(1), &[claim(1, at(1), 9)]);
    assert_eq!((early.providers.len(), early.claimed.len(), early.next), (0, 0, Some(at(2))));
    let nobody = Claim { provider: provider(7), ..claim(3, at(2), 9) };
    let asked_anyhow = look(bench, at(2), &[claim(1, at(2), 9), nobody]);
    assert_eq!((asked_anyhow.providers, asked_anyhow.claimed.len()), (vec![provider(2)], 0));
    bench.suspend(provider(1), false);
    assert_eq!(ids(&claimed(bench, claim(2, at(2), 9))), [event(1)]);
}

pub(super) fn one_look_claims_for_several_providers(bench: &dyn Bench) {
    for number in [3, 1, 2] {
        bench.add_provider(provider(number));
        bench.add_event(event(number), provider(number), at(0));
    }
    let claims = [2, 3].map(|number| Claim { provider: provider(number), ..claim(number, at(0), 9) });
    let due = look(bench, at(0), &claims);
    assert_eq!(due.providers, [provider(1), provider(2), provider(3)]);
    let found: Vec<_> =
        due.claimed.iter().map(|claimed| (claimed.provider.id, ids(&claimed.events))).collect();
    assert_eq!(found, [(provider(2), vec![event(2)]), (provider(3), vec![event(3)])]);
    let leases: Vec<_> = deliveries(bench, 3).into_iter().map(|delivery| delivery.lease).collect();
    assert_eq!(leases, [None, Some(lease(2)), Some(lease(3))]);
}

pub(super) fn a_claim_reports_earlier_attempts(bench: &dyn Bench) {
    with_events(bench, 1);
    let told = |number, second| -> Vec<(u32, u32)> {
        let events = claimed(bench, claim(number, at(second), 9));
        let fate = if number == 2 { Fate::Exhausted } else { Fate::RetryAt(at(second + 1)) };
        settle(bench, &events.iter().map(|event| attempted(event, number, fate)).collect::<Vec<_>>());
        events.iter().map(|event| (event.attempts, event.attempts_before_replay)).collect()
    };
    assert_eq!(told(1, 0), [(0, 0)]);
    assert_eq!(told(2, 1), [(1, 0)]);
    assert_eq!(told(3, 9), []);
    bench.replay(event(1), at(9));
    assert_eq!(told(4, 9), [(2, 2)]);
    assert_eq!(told(5, 10), [(3, 2)]);
}

/// The waits of an event that was never attempted, and of one that failed once.
const WAITS: [Duration; 2] = [Duration::ZERO, Duration::from_secs(15)];
const DAY: u64 = 86_400;

fn bring_back(bench: &dyn Bench, now: Timestamp) -> usize {
    bench.journal().bring_back(now, &WAITS, LEASE).expect("a journal that serves")
}

fn dues(bench: &dyn Bench, count: u64) -> Vec<Option<Timestamp>> {
    deliveries(bench, count).into_iter().map(|delivery| delivery.due).collect()
}

pub(super) fn events_are_rescheduled_after_the_clock_moved_backwards(bench: &dyn Bench) {
    with_events(bench, 3);
    bench.add_event(event(4), provider(1), at(DAY + 100));
    let tried = claimed(bench, claim(1, at(DAY), 3));
    settle(bench, &[attempted(&tried[0], 1, Fate::RetryAt(at(DAY + 15)))]);
    settle(bench, &[attempted(&tried[1], 1, Fate::Delivered)]);
    assert_eq!(bring_back(bench, at(10)), 3, "one that failed, one under way, one that nobody has tried");
    assert_eq!(dues(bench, 4), [Some(at(25)), None, Some(at(70)), Some(at(10))]);
    assert_eq!(bring_back(bench, at(10)), 0);
    assert_eq!(ids(&claimed(bench, claim(2, at(25), 9))), [event(4), event(1)]);
}

pub(super) fn a_small_clock_difference_reschedules_nothing(bench: &dyn Bench) {
    with_events(bench, 2);
    bench.add_event(event(3), provider(1), at(59));
    let tried = claimed(bench, claim(1, at(50), 2));
    settle(bench, &[attempted(&tried[0], 1, Fate::RetryAt(at(65)))]);
    let before = dues(bench, 3);
    assert_eq!(bring_back(bench, at(0)), 0);
    assert_eq!(dues(bench, 3), before);
}

pub(super) fn a_replay_makes_a_waiting_event_due(bench: &dyn Bench) {
    with_events(bench, 1);
    let tried = claimed(bench, claim(1, at(0), 1));
    settle(bench, &[attempted(&tried[0], 1, Fate::RetryAt(at(3_600)))]);
    bench.replay(event(1), at(9));
    let again = claimed(bench, claim(2, at(9), 1));
    assert_eq!((again[0].attempts, again[0].attempts_before_replay), (1, 0), "it goes on where it was");
}

//! Contract cases for settling.

use super::*;

const STATES: [EventState; 5] = [
    EventState::Delivered,
    EventState::Pending,
    EventState::Exhausted,
    EventState::Unaddressed,
    EventState::Pending,
];

/// Claims five events under the first lease and returns a settlement of each kind.
fn of_each_kind(bench: &dyn Bench) -> Vec<Settlement> {
    with_events(bench, 5);
    let fates =
        [Fate::Delivered, Fate::RetryAt(at(15)), Fate::Exhausted, Fate::Unaddressed, Fate::Released(at(2))];
    let events = claimed(bench, claim(1, at(0), 9));
    let settlement = |(event, fate): (&ClaimedEvent, Fate)| match fate {
        Fate::Unaddressed | Fate::Released(_) => unattempted(event, 1, fate),
        fate => attempted(event, 1, fate),
    };
    events.iter().zip(fates).map(settlement).collect()
}

pub(super) fn each_outcome_is_written_with_its_attempt(bench: &dyn Bench) {
    let settlements = of_each_kind(bench);
    settle(bench, &settlements);
    let after = deliveries(bench, 5);
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), STATES);
    assert_eq!(after.iter().map(|delivery| delivery.attempts).collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
    let due: Vec<_> = after.iter().map(|delivery| delivery.due).collect();
    assert_eq!(due, [None, Some(at(15)), None, None, Some(at(2))]);
    for (it, settlement) in after.iter().zip(&settlements) {
        assert_eq!((it.lease, it.attempts_before_replay), (None, 0));
        let recorded: Vec<_> = settlement.attempt.iter().map(|attempt| (1, attempt.id)).collect();
        assert_eq!(it.recorded, recorded);
    }
}

pub(super) fn a_repeated_settlement_changes_nothing(bench: &dyn Bench) {
    let settlements = of_each_kind(bench);
    settle(bench, &settlements);
    let after = deliveries(bench, 5);
    settle(bench, &settlements);
    assert_eq!(deliveries(bench, 5), after);
    for settlement in &settlements {
        settle(bench, std::slice::from_ref(settlement));
    }
    assert_eq!(deliveries(bench, 5), after);
    // Nor after another claim has taken the pending events.
    assert_eq!(ids(&claimed(bench, claim(2, at(15), 9))), [event(5), event(2)]);
    let taken = deliveries(bench, 5);
    settle(bench, &settlements);
    assert_eq!(deliveries(bench, 5), taken);
}

pub(super) fn a_batch_may_repeat_an_earlier_settlement(bench: &dyn Bench) {
    with_events(bench, 6);
    let events = claimed(bench, claim(1, at(0), 9));
    let fates = [Fate::Delivered, Fate::RetryAt(at(15)), Fate::Exhausted].into_iter().cycle();
    let settlements: Vec<_> =
        events.iter().zip(fates).map(|(event, fate)| attempted(event, 1, fate)).collect();
    let first: Vec<_> = settlements.iter().step_by(2).cloned().collect();
    settle(bench, &first);
    settle(bench, &settlements);
    let after = deliveries(bench, 6);
    assert!(
        after.iter().all(|delivery| delivery.attempts == 1
            && delivery.recorded.len() == 1
            && delivery.lease.is_none())
    );
    let three = [EventState::Delivered, EventState::Pending, EventState::Exhausted];
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), [three, three].concat());
}

pub(super) fn under_a_lost_lease_only_the_attempt_is_recorded(bench: &dyn Bench) {
    with_events(bench, 5);
    let lost = claimed(bench, claim(1, at(0), 9));
    let held = claimed(bench, claim(2, at(60), 9));
    let fates =
        [Fate::Delivered, Fate::RetryAt(at(99)), Fate::Exhausted, Fate::Unaddressed, Fate::Released(at(9))];
    let before = deliveries(bench, 5);
    let late = |(event, fate): (&ClaimedEvent, Fate)| match fate {
        Fate::Unaddressed | Fate::Released(_) => unattempted(event, 1, fate),
        fate => attempted(event, 1, fate),
    };
    settle(bench, &lost.iter().zip(fates).map(late).collect::<Vec<_>>());
    let after = deliveries(bench, 5);
    let recorded: Vec<_> = after.iter().map(|delivery| delivery.recorded.len()).collect();
    assert_eq!(recorded, [1, 1, 1, 0, 0]);
    let unrecorded = |delivery: Delivery| Delivery { recorded: Vec::new(), ..delivery };
    assert_eq!(after.into_iter().map(unrecorded).collect::<Vec<_>>(), before);
    // The holder of the lease settles as usual. Two attempts with the same number may be recorded.
    settle(bench, &held.iter().map(|event| attempted(event, 2, Fate::Delivered)).collect::<Vec<_>>());
    let after = deliveries(bench, 5);
    assert!(after.iter().all(|delivery| delivery.state == EventState::Delivered && delivery.attempts == 1));
    assert_eq!(after.iter().map(|delivery| delivery.recorded.len()).collect::<Vec<_>>(), [2, 2, 2, 1, 1]);
}

pub(super) fn a_second_claim_of_a_settled_failure_is_released(bench: &dyn Bench) {
    with_events(bench, 2);
    let events = claimed(bench, claim(1, at(0), 9));
    let settlements: Vec<_> = events.iter().map(|event| attempted(event, 1, Fate::RetryAt(at(15)))).collect();
    settle(bench, &settlements);
    let written = deliveries(bench, 2);
    assert_eq!(claimed(bench, claim(2, at(15), 9)).len(), 2);
    settle(bench, &under(2, &settlements));
    assert_eq!(deliveries(bench, 2), written, "the attempt counts once, and the event is due as it was");
    let released = [unattempted(&claimed(bench, claim(3, at(15), 1)).remove(0), 3, Fate::Released(at(16)))];
    settle(bench, &released);
    assert_eq!(ids(&claimed(bench, claim(4, at(16), 9))), [event(2), event(1)]);
    settle(bench, &under(4, &released));
    let back = bench.delivery(event(1));
    assert_eq!((back.state, back.attempts, back.due), (EventState::Pending, 1, Some(at(16))));
    assert_eq!((back.lease, back.recorded.len()), (None, 1));
}

pub(super) fn a_repeated_settlement_undoes_no_replay(bench: &dyn Bench) {
    with_events(bench, 2);
    let events = claimed(bench, claim(1, at(0), 9));
    let fates = [Fate::Delivered, Fate::Exhausted];
    let settlements: Vec<_> =
        events.iter().zip(fates).map(|(event, fate)| attempted(event, 1, fate)).collect();
    settle(bench, &settlements);
    bench.replay(event(1), at(20));
    bench.replay(event(2), at(20));
    let replayed = deliveries(bench, 2);
    settle(bench, &settlements);
    assert_eq!(deliveries(bench, 2), replayed);
    let anew = claimed(bench, claim(2, at(20), 9));
    assert_eq!(
        anew.iter().map(|event| (event.attempts, event.attempts_before_replay)).collect::<Vec<_>>(),
        [(1, 1); 2]
    );
    settle(bench, &under(2, &settlements));
    for it in deliveries(bench, 2) {
        assert_eq!((it.state, it.attempts, it.attempts_before_replay), (EventState::Pending, 1, 1));
        assert!(it.due <= Some(at(20)) && it.lease.is_none() && it.recorded.len() == 1, "{it:?}");
    }
    let again = claimed(bench, claim(3, at(20), 9));
    settle(bench, &again.iter().map(|event| attempted(event, 3, Fate::Delivered)).collect::<Vec<_>>());
    for it in deliveries(bench, 2) {
        assert_eq!((it.state, it.attempts, it.recorded.len()), (EventState::Delivered, 2, 2));
    }
}

pub(super) fn an_unwritten_settlement_is_written_under_a_second_claim(bench: &dyn Bench) {
    let settlements = of_each_kind(bench);
    assert_eq!(claimed(bench, claim(2, at(60), 9)).len(), 5);
    settle(bench, &under(2, &settlements));
    let after = deliveries(bench, 5);
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), STATES);
    assert_eq!(after.iter().map(|delivery| delivery.attempts).collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
    assert!(after.iter().all(|delivery| delivery.lease.is_none()));
}

pub(super) fn an_attempt_recorded_under_a_lost_lease_is_released(bench: &dyn Bench) {
    with_events(bench, 1);
    let late: Vec<_> =
        claimed(bench, claim(1, at(0), 9)).iter().map(|event| attempted(event, 1, Fate::Delivered)).collect();
    assert_eq!(claimed(bench, claim(2, at(60), 9)).len(), 1);
    settle(bench, &late);
    assert_eq!(claimed(bench, claim(3, at(120), 9)).len(), 1);
    settle(bench, &under(3, &late));
    let back = bench.delivery(event(1));
    assert_eq!((back.state, back.attempts, back.lease), (EventState::Pending, 0, None));
    assert!(back.due <= Some(at(120)) && back.recorded.len() == 1, "{back:?}");
}

pub(super) fn a_failed_batch_writes_nothing(bench: &dyn Bench) {
    let settlements = of_each_kind(bench);
    let before = deliveries(bench, 5);
    bench.break_event(Some(event(3)));
    bench.journal().settle(&settlements).expect_err("a broken event");
    assert_eq!(deliveries(bench, 5), before);
    bench.break_event(None);
    settle(bench, &settlements);
    let after = deliveries(bench, 5);
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), STATES);
    assert_eq!(after.iter().map(|delivery| delivery.recorded.len()).collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
}

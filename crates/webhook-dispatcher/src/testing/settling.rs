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
fn settlements_of_each_kind(harness: &dyn StoreHarness) -> Vec<Settlement> {
    add_events(harness, 5);
    let outcomes =
        [DeliveryOutcome::Delivered, DeliveryOutcome::RetryAt(time_at(15)), DeliveryOutcome::Exhausted, DeliveryOutcome::Unaddressed, DeliveryOutcome::Released(time_at(2))];
    let events = claim_events(harness, claim_request(1, time_at(0), 9));
    let settlement = |(event, outcome): (&ClaimedEvent, DeliveryOutcome)| match outcome {
        DeliveryOutcome::Unaddressed | DeliveryOutcome::Released(_) => unsent_settlement(event, 1, outcome),
        outcome => attempt_settlement(event, 1, outcome),
    };
    events.iter().zip(outcomes).map(settlement).collect()
}

pub(super) fn each_outcome_is_written_with_its_attempt(harness: &dyn StoreHarness) {
    let settlements = settlements_of_each_kind(harness);
    settle_all(harness, &settlements);
    let after = load_deliveries(harness, 5);
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), STATES);
    assert_eq!(after.iter().map(|delivery| delivery.attempts).collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
    let due: Vec<_> = after.iter().map(|delivery| delivery.due).collect();
    assert_eq!(due, [None, Some(time_at(15)), None, None, Some(time_at(2))]);
    for (delivery, settlement) in after.iter().zip(&settlements) {
        assert_eq!((delivery.lease, delivery.attempts_before_replay), (None, 0));
        let recorded: Vec<_> = settlement.attempt.iter().map(|attempt| (1, attempt.id)).collect();
        assert_eq!(delivery.recorded, recorded);
    }
}

pub(super) fn a_repeated_settlement_changes_nothing(harness: &dyn StoreHarness) {
    let settlements = settlements_of_each_kind(harness);
    settle_all(harness, &settlements);
    let after = load_deliveries(harness, 5);
    settle_all(harness, &settlements);
    assert_eq!(load_deliveries(harness, 5), after);
    for settlement in &settlements {
        settle_all(harness, std::slice::from_ref(settlement));
    }
    assert_eq!(load_deliveries(harness, 5), after);
    // Writing them again also has no effect after another claim of the pending events.
    assert_eq!(event_ids(&claim_events(harness, claim_request(2, time_at(15), 9))), [event_id(5), event_id(2)]);
    let taken = load_deliveries(harness, 5);
    settle_all(harness, &settlements);
    assert_eq!(load_deliveries(harness, 5), taken);
}

pub(super) fn a_batch_may_repeat_an_earlier_settlement(harness: &dyn StoreHarness) {
    add_events(harness, 6);
    let events = claim_events(harness, claim_request(1, time_at(0), 9));
    let outcomes = [DeliveryOutcome::Delivered, DeliveryOutcome::RetryAt(time_at(15)), DeliveryOutcome::Exhausted].into_iter().cycle();
    let settlements: Vec<_> =
        events.iter().zip(outcomes).map(|(event, outcome)| attempt_settlement(event, 1, outcome)).collect();
    let first: Vec<_> = settlements.iter().step_by(2).cloned().collect();
    settle_all(harness, &first);
    settle_all(harness, &settlements);
    let after = load_deliveries(harness, 6);
    assert!(
        after.iter().all(|delivery| delivery.attempts == 1
            && delivery.recorded.len() == 1
            && delivery.lease.is_none())
    );
    let three = [EventState::Delivered, EventState::Pending, EventState::Exhausted];
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), [three, three].concat());
}

pub(super) fn under_a_lost_lease_only_the_attempt_is_recorded(harness: &dyn StoreHarness) {
    add_events(harness, 5);
    let lost = claim_events(harness, claim_request(1, time_at(0), 9));
    let current = claim_events(harness, claim_request(2, time_at(60), 9));
    let outcomes =
        [DeliveryOutcome::Delivered, DeliveryOutcome::RetryAt(time_at(99)), DeliveryOutcome::Exhausted, DeliveryOutcome::Unaddressed, DeliveryOutcome::Released(time_at(9))];
    let before = load_deliveries(harness, 5);
    let late = |(event, outcome): (&ClaimedEvent, DeliveryOutcome)| match outcome {
        DeliveryOutcome::Unaddressed | DeliveryOutcome::Released(_) => unsent_settlement(event, 1, outcome),
        outcome => attempt_settlement(event, 1, outcome),
    };
    settle_all(harness, &lost.iter().zip(outcomes).map(late).collect::<Vec<_>>());
    let after = load_deliveries(harness, 5);
    let recorded: Vec<_> = after.iter().map(|delivery| delivery.recorded.len()).collect();
    assert_eq!(recorded, [1, 1, 1, 0, 0]);
    let unrecorded = |delivery: DeliveryState| DeliveryState { recorded: Vec::new(), ..delivery };
    assert_eq!(after.into_iter().map(unrecorded).collect::<Vec<_>>(), before);
    // The settlements under the current lease are written as usual. Two attempts with the same number may be recorded.
    settle_all(harness, &current.iter().map(|event| attempt_settlement(event, 2, DeliveryOutcome::Delivered)).collect::<Vec<_>>());
    let after = load_deliveries(harness, 5);
    assert!(after.iter().all(|delivery| delivery.state == EventState::Delivered && delivery.attempts == 1));
    assert_eq!(after.iter().map(|delivery| delivery.recorded.len()).collect::<Vec<_>>(), [2, 2, 2, 1, 1]);
}

pub(super) fn a_second_claim_of_a_settled_failure_is_released(harness: &dyn StoreHarness) {
    add_events(harness, 2);
    let events = claim_events(harness, claim_request(1, time_at(0), 9));
    let settlements: Vec<_> = events.iter().map(|event| attempt_settlement(event, 1, DeliveryOutcome::RetryAt(time_at(15)))).collect();
    settle_all(harness, &settlements);
    let written = load_deliveries(harness, 2);
    assert_eq!(claim_events(harness, claim_request(2, time_at(15), 9)).len(), 2);
    settle_all(harness, &under_lease(2, &settlements));
    assert_eq!(load_deliveries(harness, 2), written, "the attempt counts once, and the due time does not change");
    let released = [unsent_settlement(&claim_events(harness, claim_request(3, time_at(15), 1)).remove(0), 3, DeliveryOutcome::Released(time_at(16)))];
    settle_all(harness, &released);
    assert_eq!(event_ids(&claim_events(harness, claim_request(4, time_at(16), 9))), [event_id(2), event_id(1)]);
    settle_all(harness, &under_lease(4, &released));
    let released_delivery = harness.load_delivery(event_id(1));
    assert_eq!((released_delivery.state, released_delivery.attempts, released_delivery.due), (EventState::Pending, 1, Some(time_at(16))));
    assert_eq!((released_delivery.lease, released_delivery.recorded.len()), (None, 1));
}

pub(super) fn a_repeated_settlement_undoes_no_replay(harness: &dyn StoreHarness) {
    add_events(harness, 2);
    let events = claim_events(harness, claim_request(1, time_at(0), 9));
    let outcomes = [DeliveryOutcome::Delivered, DeliveryOutcome::Exhausted];
    let settlements: Vec<_> =
        events.iter().zip(outcomes).map(|(event, outcome)| attempt_settlement(event, 1, outcome)).collect();
    settle_all(harness, &settlements);
    harness.replay_event(event_id(1), time_at(20));
    harness.replay_event(event_id(2), time_at(20));
    let replayed = load_deliveries(harness, 2);
    settle_all(harness, &settlements);
    assert_eq!(load_deliveries(harness, 2), replayed);
    let claimed_again = claim_events(harness, claim_request(2, time_at(20), 9));
    assert_eq!(
        claimed_again.iter().map(|event| (event.attempts, event.attempts_before_replay)).collect::<Vec<_>>(),
        [(1, 1); 2]
    );
    settle_all(harness, &under_lease(2, &settlements));
    for delivery in load_deliveries(harness, 2) {
        assert_eq!((delivery.state, delivery.attempts, delivery.attempts_before_replay), (EventState::Pending, 1, 1));
        assert!(delivery.due <= Some(time_at(20)) && delivery.lease.is_none() && delivery.recorded.len() == 1, "{delivery:?}");
    }
    let again = claim_events(harness, claim_request(3, time_at(20), 9));
    settle_all(harness, &again.iter().map(|event| attempt_settlement(event, 3, DeliveryOutcome::Delivered)).collect::<Vec<_>>());
    for delivery in load_deliveries(harness, 2) {
        assert_eq!((delivery.state, delivery.attempts, delivery.recorded.len()), (EventState::Delivered, 2, 2));
    }
}

pub(super) fn an_unwritten_settlement_is_written_under_a_second_claim(harness: &dyn StoreHarness) {
    let settlements = settlements_of_each_kind(harness);
    assert_eq!(claim_events(harness, claim_request(2, time_at(60), 9)).len(), 5);
    settle_all(harness, &under_lease(2, &settlements));
    let after = load_deliveries(harness, 5);
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), STATES);
    assert_eq!(after.iter().map(|delivery| delivery.attempts).collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
    assert!(after.iter().all(|delivery| delivery.lease.is_none()));
}

pub(super) fn an_attempt_recorded_under_a_lost_lease_is_released(harness: &dyn StoreHarness) {
    add_events(harness, 1);
    let late: Vec<_> =
        claim_events(harness, claim_request(1, time_at(0), 9)).iter().map(|event| attempt_settlement(event, 1, DeliveryOutcome::Delivered)).collect();
    assert_eq!(claim_events(harness, claim_request(2, time_at(60), 9)).len(), 1);
    settle_all(harness, &late);
    assert_eq!(claim_events(harness, claim_request(3, time_at(120), 9)).len(), 1);
    settle_all(harness, &under_lease(3, &late));
    let released_delivery = harness.load_delivery(event_id(1));
    assert_eq!((released_delivery.state, released_delivery.attempts, released_delivery.lease), (EventState::Pending, 0, None));
    assert!(released_delivery.due <= Some(time_at(120)) && released_delivery.recorded.len() == 1, "{released_delivery:?}");
}

pub(super) fn a_failed_batch_writes_nothing(harness: &dyn StoreHarness) {
    let settlements = settlements_of_each_kind(harness);
    let before = load_deliveries(harness, 5);
    harness.break_event(Some(event_id(3)));
    harness.store().record_settlements(&settlements).expect_err("a broken event");
    assert_eq!(load_deliveries(harness, 5), before);
    harness.break_event(None);
    settle_all(harness, &settlements);
    let after = load_deliveries(harness, 5);
    assert_eq!(after.iter().map(|delivery| delivery.state).collect::<Vec<_>>(), STATES);
    assert_eq!(after.iter().map(|delivery| delivery.recorded.len()).collect::<Vec<_>>(), [1, 1, 1, 0, 0]);
}

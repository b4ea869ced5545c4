//! Replays read and change a bounded number of events in each transaction.

use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_domain::ports::{DeliveryOutcome, ReplayQuery, StoreExt as _, Timestamp};
use guerdon_domain::values::EventId;

use crate::deliveries::{claim_events, create_events, current_time, new_settlement, settle_events};
use crate::support::{LedgerFixture, on_each_database};

/// Claims all due events and settles each with the same outcome. Returns their ids.
fn settle_all(fixture: &LedgerFixture, at: Timestamp, number: u64, outcome: DeliveryOutcome) -> Vec<EventId> {
    let claimed = claim_events(fixture, at, number, 9);
    for event in &claimed {
        settle_events(fixture, &[new_settlement(fixture, event, number, outcome, at)]);
    }
    claimed.iter().map(|event| event.id).collect()
}

#[test]
fn a_replay_continues_after_the_events_that_it_examined() {
    on_each_database(|fixture| {
        create_events(fixture, 5);
        let at = current_time(fixture);
        let states = [
            (EventState::Delivered, DeliveryOutcome::Delivered),
            (EventState::Pending, DeliveryOutcome::RetryAt(at + Duration::from_secs(60))),
            (EventState::Exhausted, DeliveryOutcome::Exhausted),
            (EventState::Unaddressed, DeliveryOutcome::Unaddressed),
        ];
        let mut number = 0;
        for (state, outcome) in states {
            for since in [None, Some(Timestamp::UNIX_EPOCH)] {
                number += 1;
                assert_eq!(settle_all(fixture, at, number, outcome).len(), 5, "all were due again");
                let (provider, mut after, mut pages) = (fixture.provider, None, Vec::new());
                while pages.len() < 3 {
                    let query =
                        ReplayQuery { provider, state, since, not_attempted_since: None, after, limit: 2 };
                    let page = fixture.store.transaction(|tx| tx.replay_page(&query, at)).unwrap();
                    pages.push((page.examined, page.replayed));
                    after = page.last;
                }
                assert_eq!(pages, [(2, 2), (2, 2), (1, 1)], "{state:?} since {since:?}");
            }
        }
    });
}

#[test]
fn events_that_were_created_earlier_or_attempted_since_are_not_replayed() {
    on_each_database(|fixture| {
        create_events(fixture, 2);
        let at = current_time(fixture);
        let provider = fixture.provider;
        for (number, outcome, state) in [
            (1, DeliveryOutcome::RetryAt(at + Duration::from_secs(60)), EventState::Pending),
            (2, DeliveryOutcome::Exhausted, EventState::Exhausted),
            (3, DeliveryOutcome::Delivered, EventState::Delivered),
        ] {
            settle_all(fixture, at, number, outcome);
            let replay = |since, not_attempted_since| {
                let since = Some(since);
                let query =
                    ReplayQuery { provider, state, since, not_attempted_since, after: None, limit: 9 };
                fixture.store.transaction(|tx| tx.replay_page(&query, at)).unwrap().replayed
            };
            let later = at + Duration::from_secs(60);
            assert_eq!(replay(later, None), 0, "{state:?}");
            assert_eq!(replay(Timestamp::UNIX_EPOCH, Some(at)), 0, "{state:?}");
            assert_eq!(replay(Timestamp::UNIX_EPOCH, Some(later)), 2, "{state:?}");
        }
    });
}

#[test]
fn the_newest_attempts_are_listed_with_or_without_responses() {
    on_each_database(|fixture| {
        create_events(fixture, 1);
        let at = current_time(fixture);
        let ids = [1, 2, 3].map(|number| settle_all(fixture, at, number, DeliveryOutcome::RetryAt(at)));
        let id = ids[0][0];
        let full = fixture.read_snapshot(|reads| reads.list_attempts(id, 2));
        let brief = fixture.read_snapshot(|reads| reads.list_attempts_without_responses(id, 2));
        for attempts in [&full, &brief] {
            assert_eq!(attempts.iter().map(|attempt| attempt.number).collect::<Vec<_>>(), [2, 3]);
        }
        assert!(full.iter().all(|attempt| attempt.response_body == b"answer"));
        assert!(full.iter().all(|attempt| attempt.response_headers.is_some()));
        assert!(brief.iter().all(|attempt| attempt.response_body.is_empty()));
        assert!(brief.iter().all(|attempt| attempt.response_headers.is_none()));
        assert_eq!(fixture.read_snapshot(|reads| reads.list_attempts(id, 9)).len(), 3);
    });
}

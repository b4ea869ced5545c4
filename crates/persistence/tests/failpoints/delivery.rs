//! Faults while events are claimed and settled: no event is lost, none is claimed twice under one lease, and each
//! attempt counts once.

use std::collections::BTreeSet;
use std::time::Duration;

use guerdon_domain::ports::{
    ClaimRequest, ClaimedEvent, DeliveryOutcome, Settlement, StoreError, StoreExt as _,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::UserId;
use guerdon_persistence::testing::{FAILPOINTS, Failpoint, Fault, Place, clear_all, inject};
use uuid::Uuid;

use super::child::{kill_this_process, received_task, run_killed_child, run_passing_child};
use super::kill::{ids_to_text, open_fixture};
use super::{
    Template, catch_failure, claim_when_unlocked, count_hits, count_rows, failpoints_at, survivable_faults,
};
use crate::deliveries::{create_events, current_time, new_settlement};
use crate::support::{LedgerFixture, create_database};

/// The test that the killed child processes run.
const KILLED_CHILD: &str = "failpoints::delivery::child_is_killed_while_it_delivers";
const LEASE: Duration = Duration::from_secs(60);
/// The distance between the numbers of the leases of the first and the second claim of an event.
const SECOND_CLAIM: u64 = 1_000_000;
/// When the fault begins. Claims and settlements both pass the failpoints of a commit.
const CLAIMING: &str = "claiming";
const SETTLING: &str = "settling";
/// The numbers of events that are delivered together.
const COUNTS: [usize; 2] = [1, 32];

/// The failpoints that claims and settlements pass.
fn delivery_failpoints(is_embedded: bool) -> Vec<&'static Failpoint> {
    let (place, commit) = if is_embedded {
        (Place::DeliveryOnSqlite, "sqlite.commit")
    } else {
        (Place::Delivery, "postgres.commit")
    };
    let mut found = failpoints_at(&[place, Place::Delivery]);
    found.extend(FAILPOINTS.iter().filter(|failpoint| failpoint.name.starts_with(commit)));
    found
}

fn try_claim(fixture: &LedgerFixture, number: u64) -> Result<Vec<ClaimedEvent>, StoreError> {
    let now = current_time(fixture);
    let claim = ClaimRequest {
        provider: fixture.provider,
        limit: 1_000,
        now,
        lease_until: now + LEASE,
        lease: Uuid::from_u64_pair(7, number),
    };
    fixture.store.transaction(|tx| tx.claim_events(&claim)).map(|claimed| claimed.unwrap().events)
}

fn settlements_for(fixture: &LedgerFixture, claimed: &[ClaimedEvent], number: u64) -> Vec<Settlement> {
    let at = current_time(fixture);
    let settlement = |event| new_settlement(fixture, event, number, DeliveryOutcome::Delivered, at);
    claimed.iter().map(settlement).collect()
}

fn try_settle(fixture: &LedgerFixture, settlements: &[Settlement]) -> Result<(), StoreError> {
    fixture.store.transaction(|tx| tx.settle_events(settlements))
}

fn count_distinct(claimed: &[ClaimedEvent]) -> usize {
    claimed.iter().map(|event| event.id).collect::<BTreeSet<_>>().len()
}

/// Claims and settles new events while a fault is injected, and then again without.
fn check_fault(fixture: &LedgerFixture, receivers: &[UserId], lease: u64, (failpoint, fault): (&str, Fault)) {
    let events = receivers.len();
    fixture.deposit_points(1_000);
    fixture.send_recognition(Sender::Company(fixture.company), receivers, 1).unwrap();
    let attempts_before = count_rows(fixture, "attempts");
    let hits_before = count_hits(failpoint);
    inject(failpoint, fault).unwrap();
    let claimed = catch_failure(|| try_claim(fixture, lease));
    clear_all();
    // After a commit, a claim or settlement has taken effect although it failed.
    let is_committed = failpoint.ends_with(".committed");
    if claimed.is_none() {
        let leased = count_rows(fixture, "deliveries WHERE lease_id IS NOT NULL");
        assert_eq!(leased, if is_committed { events } else { 0 }, "{failpoint}: a partial claim");
    }
    if is_committed {
        fixture.clock.set_time(current_time(fixture) + LEASE);
    }
    // A failed claim that was not committed holds no lease, so the events can be claimed again immediately.
    let (claimed, lease) = match claimed {
        Some(claimed) => (claimed, lease),
        None => {
            (claim_when_unlocked(events, || try_claim(fixture, lease + SECOND_CLAIM)), lease + SECOND_CLAIM)
        }
    };
    assert_eq!((claimed.len(), count_distinct(&claimed)), (events, events), "{failpoint}");
    let settlements = settlements_for(fixture, &claimed, lease);
    inject(failpoint, fault).unwrap();
    let settled = catch_failure(|| try_settle(fixture, &settlements));
    let recorded = count_rows(fixture, "attempts") - attempts_before;
    let is_settled = settled.is_some() || is_committed;
    assert!(recorded == if is_settled { events } else { 0 }, "{failpoint}: a partial settlement");
    clear_all();
    assert!(count_hits(failpoint) > hits_before, "{failpoint} was not passed");
    try_settle(fixture, &settlements).unwrap(); // the dispatcher repeats a settlement until it succeeds
    let recorded = count_rows(fixture, "attempts") - attempts_before;
    assert_eq!(recorded, events, "{failpoint}: each attempt counts once");
    assert_eq!(count_rows(fixture, "deliveries WHERE state <> 2 OR attempts <> 1"), 0, "{failpoint}");
    assert_eq!(fixture.audit_ledger(), []);
}

#[test]
fn child_checks_errors_and_panics_of_deliveries() {
    let Some(task) = received_task() else { return };
    let is_embedded = task["database"] == "sqlite";
    let mut lease = 0;
    let fixture = LedgerFixture::new(create_database(is_embedded));
    let receivers: Vec<UserId> =
        (0..COUNTS[1]).map(|number| fixture.create_user(&format!("receiver-{number}"))).collect();
    let template = Template::close(fixture);
    for failpoint in delivery_failpoints(is_embedded) {
        // Each case audits the whole ledger, so each failpoint starts with a small one.
        let fixture = template.open_copy();
        for fault in survivable_faults(failpoint) {
            for events in COUNTS {
                lease += 1;
                check_fault(&fixture, &receivers[..events], lease, (failpoint.name, fault));
            }
        }
    }
    println!("{lease} cases");
}

#[test]
fn an_error_or_panic_while_delivering_loses_and_duplicates_no_event() {
    for database in super::databases() {
        let test = "failpoints::delivery::child_checks_errors_and_panics_of_deliveries";
        run_passing_child(test, &[("database", database)]);
    }
}

#[test]
fn child_is_killed_while_it_delivers() {
    let Some(task) = received_task() else { return };
    let fixture = open_fixture(&task["url"], &task["ids"], &task["generation"]);
    let start_fault =
        || inject(&task["failpoint"], Fault::Kills { passes: 0, kill: kill_this_process }).unwrap();
    let phase = &task["phase"];
    if phase == CLAIMING {
        start_fault();
    }
    let lease = task["generation"].parse().unwrap();
    let claimed = try_claim(&fixture, lease).unwrap();
    if phase == SETTLING {
        start_fault();
    }
    try_settle(&fixture, &settlements_for(&fixture, &claimed, lease)).unwrap();
    panic!("not killed");
}

/// Kills a process that claims and settles new events, and lets another process continue.
fn check_kill(is_embedded: bool, (failpoint, phase): (&str, &str), events: usize, generation: u64) {
    let fixture = LedgerFixture::new(create_database(is_embedded));
    create_events(&fixture, events);
    let ids = ids_to_text(&fixture.fixture_ids());
    let database = fixture.close();
    let (of_child, of_parent) = (generation.to_string(), (generation + 1).to_string());
    let task = [("url", database.url.as_str()), ("ids", &ids), ("generation", &of_child)];
    run_killed_child(KILLED_CHILD, &[&task[..], &[("failpoint", failpoint), ("phase", phase)]].concat());
    // The next generation starts after the leases of the killed process have ended.
    let reopened = open_fixture(&database.url, &ids, &of_parent);
    let is_settled = phase == SETTLING && failpoint.ends_with(".committed");
    if !is_settled {
        let lease = generation + SECOND_CLAIM;
        let claimed = claim_when_unlocked(events, || try_claim(&reopened, lease));
        assert_eq!((claimed.len(), count_distinct(&claimed)), (events, events), "{failpoint} from {phase}");
        try_settle(&reopened, &settlements_for(&reopened, &claimed, lease)).unwrap();
    }
    assert_eq!(count_rows(&reopened, "attempts"), events, "{failpoint} from {phase}");
    assert_eq!(count_rows(&reopened, "deliveries WHERE state <> 2 OR attempts <> 1"), 0, "{failpoint}");
    assert_eq!(reopened.audit_ledger(), []);
}

#[test]
fn a_kill_while_delivering_loses_and_duplicates_no_event() {
    for database in super::databases() {
        let is_embedded = database == "sqlite";
        let mut generation = 0;
        for failpoint in delivery_failpoints(is_embedded) {
            let is_in_both = failpoint.name.contains(".commit");
            let phases = if is_in_both { &[CLAIMING, SETTLING][..] } else { &[CLAIMING] };
            for (phase, events) in phases.iter().flat_map(|phase| COUNTS.map(|events| (phase, events))) {
                generation += 2;
                check_kill(is_embedded, (failpoint.name, phase), events, generation);
            }
        }
    }
}

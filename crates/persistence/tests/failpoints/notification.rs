//! Faults while emails are claimed and settled: no email is lost, none is claimed again before its lease expires, and
//! each attempt is counted once.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use guerdon_domain::ports::{NotificationOutcome, StoreError, StoreExt as _};
use guerdon_persistence::testing::{FAILPOINTS, Failpoint, Fault, Place, clear_all, inject};
use uuid::Uuid;

use super::child::{kill_this_process, received_task, run_killed_child, run_passing_child};
use super::kill::{ids_to_text, open_fixture};
use super::{UNLOCK_TIMEOUT, catch_failure, claim_when_unlocked, count_hits, count_rows, survivable_faults};
use crate::deliveries::{claim_of_mails, current_time, lease_id, queue_mails};
use crate::support::{LedgerFixture, create_database};

const LEASE: Duration = Duration::from_secs(120);
/// The numbers of emails that are claimed together.
const COUNTS: [u64; 2] = [1, 16];
/// The maximum of these numbers.
const COUNT_MAX: u64 = COUNTS[1];

/// The failpoints that claims and settlements pass.
fn notification_failpoints(is_embedded: bool) -> impl Iterator<Item = &'static Failpoint> {
    let commit = if is_embedded { "sqlite.commit" } else { "postgres.commit" };
    FAILPOINTS
        .iter()
        .filter(move |point| point.place == Place::Notification || point.name.starts_with(commit))
}

fn try_claim(fixture: &LedgerFixture, lease: u64) -> Result<Vec<Uuid>, StoreError> {
    let now = current_time(fixture);
    let claim = claim_of_mails(now, now + LEASE, lease, COUNT_MAX.try_into().unwrap());
    let claimed = fixture.store.transaction(|tx| tx.claim_notifications(&claim))?;
    let mails = claimed.map(|claimed| claimed.notifications).unwrap_or_default();
    Ok(mails.iter().map(|mail| mail.id).collect())
}

fn try_settle(fixture: &LedgerFixture, mail: Uuid, lease: u64) -> Result<(), StoreError> {
    let sent = NotificationOutcome::Sent;
    fixture.store.transaction(|tx| tx.settle_notification(mail, lease_id(lease), sent))
}

/// Claims and settles new emails while a fault is injected, and then again without.
fn check_fault(fixture: &LedgerFixture, case: u64, count: u64, (failpoint, fault): (&str, Fault)) {
    let numbers = case * COUNT_MAX..=case * COUNT_MAX + count - 1;
    queue_mails(fixture, numbers.clone(), current_time(fixture));
    let queued: BTreeSet<Uuid> = numbers.map(lease_id).collect();
    let is_committed = failpoint.ends_with(".committed");
    let (first_lease, second_lease) = (2 * case, 2 * case + 1);
    let hits_before = count_hits(failpoint);
    inject(failpoint, fault).unwrap();
    let claimed = catch_failure(|| try_claim(fixture, first_lease));
    clear_all();
    let (claimed, lease) = match claimed {
        Some(claimed) => (claimed, first_lease),
        None => {
            let leased = count_rows(fixture, "notifications WHERE lease_id IS NOT NULL");
            assert_eq!(leased, if is_committed { queued.len() } else { 0 }, "{failpoint}: a partial claim");
            if is_committed {
                let early = try_claim(fixture, second_lease).unwrap();
                assert!(early.is_empty(), "{failpoint}: the lease still holds");
                fixture.clock.set_time(current_time(fixture) + LEASE);
            }
            (claim_when_unlocked(queued.len(), || try_claim(fixture, second_lease)), second_lease)
        }
    };
    assert_eq!(claimed.len(), queued.len(), "{failpoint}");
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>(), queued, "{failpoint}");
    let count_sent = || count_rows(fixture, "notifications WHERE state = 2");
    let sent_before = count_sent();
    if lease == second_lease {
        try_settle(fixture, lease_id(case * COUNT_MAX), first_lease).unwrap();
        assert_eq!(count_sent(), sent_before, "{failpoint}: settled under a lease that has ended");
    }
    inject(failpoint, fault).unwrap();
    let settled =
        queued.iter().filter(|mail| catch_failure(|| try_settle(fixture, **mail, lease)).is_some()).count();
    clear_all();
    assert!(count_hits(failpoint) > hits_before, "{failpoint} was not passed");
    let expected = if is_committed { queued.len() } else { settled };
    assert_eq!(count_sent() - sent_before, expected, "{failpoint}: {fault:?}");
    // The mailer repeats a settlement that failed. Repeating one that succeeded changes nothing.
    queued.iter().for_each(|mail| try_settle(fixture, *mail, lease).unwrap());
    assert_eq!(count_rows(fixture, "notifications WHERE state <> 2 OR attempts <> 1"), 0, "{failpoint}");
}

#[test]
fn child_checks_errors_and_panics_of_notifications() {
    let Some(task) = received_task() else { return };
    let is_embedded = task["database"] == "sqlite";
    let fixture = LedgerFixture::new(create_database(is_embedded));
    let mut case = 0;
    for failpoint in notification_failpoints(is_embedded) {
        for fault in survivable_faults(failpoint) {
            for count in COUNTS {
                case += 1;
                check_fault(&fixture, case, count, (failpoint.name, fault));
            }
        }
    }
    println!("{case} cases");
}

#[test]
fn an_error_or_panic_while_claiming_or_settling_mail_loses_none() {
    for database in super::databases() {
        let test = "failpoints::notification::child_checks_errors_and_panics_of_notifications";
        run_passing_child(test, &[("database", database)]);
    }
}

#[test]
fn child_is_killed_while_it_settles_mail() {
    let Some(task) = received_task() else { return };
    let fixture = open_fixture(&task["url"], &task["ids"], &task["generation"]);
    let passes = task["passes"].parse().unwrap();
    inject(&task["failpoint"], Fault::Kills { passes, kill: kill_this_process }).unwrap();
    let lease = task["generation"].parse().unwrap();
    for mail in try_claim(&fixture, lease).unwrap() {
        try_settle(&fixture, mail, lease).unwrap();
    }
    panic!("not killed");
}

/// Kills a process at a failpoint that it has already passed `passes` times. After the lease has expired, another
/// process sends the remaining emails.
fn check_kill(is_embedded: bool, (failpoint, passes): (&Failpoint, usize), count: u64, generation: u32) {
    let fixture = LedgerFixture::new(create_database(is_embedded));
    queue_mails(&fixture, 1..=count, current_time(&fixture));
    let ids = ids_to_text(&fixture.fixture_ids());
    let database = fixture.close();
    let (of_child, of_parent) = (generation.to_string(), (generation + 1).to_string());
    let passes_text = passes.to_string();
    let task = [("url", database.url.as_str()), ("ids", &ids), ("generation", &of_child)];
    let task = [&task[..], &[("failpoint", failpoint.name), ("passes", &passes_text)]].concat();
    run_killed_child("failpoints::notification::child_is_killed_while_it_settles_mail", &task);
    let reopened = open_fixture(&database.url, &ids, &of_parent);
    let all = usize::try_from(count).unwrap();
    let is_claimed =
        failpoint.name == "notification.settle" || failpoint.name.ends_with(".committed") || passes > 0;
    let claimed = count_rows(&reopened, "notifications WHERE lease_id IS NOT NULL OR state = 2");
    assert_eq!(claimed, if is_claimed { all } else { 0 }, "{}: a partial claim", failpoint.name);
    let (lease, start) = (u64::from(generation) + 1, Instant::now());
    while count_rows(&reopened, "notifications WHERE state = 1") > 0 && start.elapsed() < UNLOCK_TIMEOUT {
        for mail in try_claim(&reopened, lease).unwrap() {
            try_settle(&reopened, mail, lease).unwrap();
        }
    }
    let sent_once = count_rows(&reopened, "notifications WHERE state = 2 AND attempts = 1");
    assert_eq!(sent_once, all, "{} after {passes} passes", failpoint.name);
}

#[test]
fn a_kill_while_claiming_or_settling_mail_loses_none() {
    for database in super::databases() {
        let is_embedded = database == "sqlite";
        let mut generation = 0;
        for failpoint in notification_failpoints(is_embedded) {
            // Pass 0 of a commit is the claim, pass 1 the first settlement.
            let last_pass = usize::from(failpoint.place != Place::Notification);
            for (passes, count) in (0..=last_pass).flat_map(|passes| COUNTS.map(|count| (passes, count))) {
                generation += 2;
                check_kill(is_embedded, (failpoint, passes), count, generation);
            }
        }
    }
}

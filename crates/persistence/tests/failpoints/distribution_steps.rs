//! Faults during the steps of a large distribution: it can be completed afterwards, and pays each user once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use guerdon_domain::ports::UnfinishedDistributions;
use guerdon_domain::wallets::{AccountKind, WalletType};
use guerdon_persistence::testing::{
    FAILPOINTS, Failpoint, Fault, InjectedError, TestDatabase, clear_all, hit_counts, inject,
};

use super::child::{kill_this_process, received_task, run_killed_child, run_passing_child};
use super::kill::{ids_to_text, open_fixture};
use crate::size::create_users;
use crate::support::{FixtureIds, LedgerFixture, create_database};

/// The distribution begins with one step and continues with three, the last of which is smaller.
const USER_COUNT: usize = 2_500;
const POINTS: i64 = 3;

/// A database with a distribution that has only begun. No connection to it is open, so that it can be copied.
struct Template {
    database: TestDatabase,
    ids: FixtureIds,
}

impl Template {
    fn create(is_embedded: bool) -> Self {
        let fixture = LedgerFixture::new(create_database(is_embedded));
        create_users(&fixture, USER_COUNT);
        fixture.deposit_points(POINTS * receiver_count());
        let recipients = fixture.all_recipients(WalletType::Peer);
        fixture.distribute_points(WalletType::Peer, POINTS, recipients).unwrap();
        Self { ids: fixture.fixture_ids(), database: fixture.close() }
    }

    fn open_copy(&self) -> LedgerFixture {
        LedgerFixture::reopen(self.database.duplicate(), &self.ids, 1)
    }

    /// The failpoints that the steps pass if nothing fails, and how often.
    fn list_passed_failpoints(&self) -> Vec<(&'static Failpoint, usize)> {
        let fixture = self.open_copy();
        let before = FAILPOINTS.each_ref().map(count_hits);
        fixture.finish_distributions();
        let with_hits =
            FAILPOINTS.iter().zip(before).map(|(point, before)| (point, count_hits(point) - before));
        with_hits.filter(|(_, hits)| *hits > 0).collect()
    }
}

fn count_hits(failpoint: &Failpoint) -> usize {
    hit_counts().get(failpoint.name).copied().unwrap_or_default()
}

/// The users and the owner of the company.
fn receiver_count() -> i64 {
    i64::try_from(USER_COUNT).unwrap() + 1
}

fn complete_and_check(fixture: &LedgerFixture, case: &str) {
    assert!(fixture.finish_distributions().is_empty(), "{case}");
    let unfinished = fixture.read_snapshot(|reads| reads.unfinished_distributions());
    assert_eq!(unfinished, UnfinishedDistributions::default(), "{case}");
    let kind = AccountKind::PeerWallet.code();
    let paid_once = format!("accounts WHERE kind = {kind} AND entry_count = 1 AND balance > 0");
    assert_eq!(fixture.database.count_rows(&paid_once), receiver_count(), "{case}");
    assert_eq!(fixture.audit_ledger(), [], "{case}");
}

/// Injects an error, if the failpoint has one, and a panic. Returns the number of cases.
fn check_survivable_faults(template: &Template, failpoint: &Failpoint, passes: usize) -> usize {
    let error = Fault::FailsAfter { passes, error: InjectedError::Broken };
    let faults = [Some(Fault::Panics), failpoint.has_error.then_some(error)];
    for fault in faults.into_iter().flatten() {
        let fixture = template.open_copy();
        let hits_before = count_hits(failpoint);
        inject(failpoint.name, fault).unwrap();
        // The fault may also occur in the query for unfinished distributions, on this thread.
        let _failed = catch_unwind(AssertUnwindSafe(|| fixture.finish_distributions()));
        clear_all();
        let case = format!("{}: {fault:?}", failpoint.name);
        assert!(
            count_hits(failpoint) > hits_before + if matches!(fault, Fault::Panics) { 0 } else { passes },
            "{case}"
        );
        complete_and_check(&fixture, &case);
    }
    faults.into_iter().flatten().count()
}

fn check_kill(template: &Template, failpoint: &Failpoint, passes: usize) {
    let copy = template.database.duplicate();
    let (ids, passes) = (ids_to_text(&template.ids), passes.to_string());
    let task =
        [("url", copy.url.as_str()), ("ids", &ids), ("failpoint", failpoint.name), ("passes", &passes)];
    run_killed_child("failpoints::distribution_steps::child_is_killed_in_a_step", &task);
    complete_and_check(&open_fixture(&copy.url, &ids, "2"), &format!("{}: kill", failpoint.name));
}

#[test]
fn child_checks_faults_in_steps() {
    let Some(task) = received_task() else { return };
    let template = Template::create(task["database"] == "sqlite");
    let failpoints = template.list_passed_failpoints();
    let mut cases = 0;
    for (number, (failpoint, hits)) in failpoints.iter().enumerate() {
        let passes = number % 3.min(*hits); // the step in which the fault occurs
        cases += check_survivable_faults(&template, failpoint, passes);
        check_kill(&template, failpoint, passes);
        cases += 1;
    }
    assert!(failpoints.len() > 8, "{failpoints:?}");
    println!("{} failpoints, {cases} cases", failpoints.len());
}

#[test]
fn child_is_killed_in_a_step() {
    let Some(task) = received_task() else { return };
    let fixture = open_fixture(&task["url"], &task["ids"], "1");
    let passes = task["passes"].parse().unwrap();
    inject(&task["failpoint"], Fault::Kills { passes, kill: kill_this_process }).unwrap();
    fixture.finish_distributions();
    panic!("not killed");
}

#[test]
fn a_fault_in_any_step_of_a_distribution_pays_each_user_once() {
    for database in super::databases() {
        let test = "failpoints::distribution_steps::child_checks_faults_in_steps";
        let printed = run_passing_child(test, &[("database", database)]);
        assert!(printed.contains(" cases"), "{printed}");
    }
}

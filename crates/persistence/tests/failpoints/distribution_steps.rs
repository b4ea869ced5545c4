//! Faults during the steps of a large distribution: it can be completed afterwards, and pays each user once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use guerdon_domain::ports::UnfinishedDistributions;
use guerdon_domain::wallets::AccountKind;
use guerdon_persistence::testing::{FAILPOINTS, Failpoint, Fault, InjectedError, clear_all, inject};

use super::child::{kill_this_process, received_task, run_killed_child, run_passing_child};
use super::kill::{ids_to_text, open_fixture};
use super::{Template, count_hits};
use crate::size::create_users;
use crate::steps::{POINTS_PER_RECEIVER, USER_COUNT, begin_distribution};
use crate::support::{LedgerFixture, create_database};

/// The users and the owner of the company. Three steps pay them, and a fourth ends the distribution.
fn receiver_count() -> i64 {
    i64::try_from(USER_COUNT).unwrap() + 1
}

/// A database with a distribution of which no step has been executed.
fn create_template(is_embedded: bool) -> Template {
    let fixture = LedgerFixture::new(create_database(is_embedded));
    create_users(&fixture, USER_COUNT);
    fixture.deposit_points(POINTS_PER_RECEIVER * receiver_count());
    begin_distribution(&fixture).unwrap();
    Template::close(fixture)
}

/// The failpoints that the steps pass if nothing fails, and how often.
fn list_passed_failpoints(template: &Template) -> Vec<(&'static Failpoint, usize)> {
    let fixture = template.open_copy();
    let before = FAILPOINTS.each_ref().map(|failpoint| count_hits(failpoint.name));
    fixture.finish_distributions();
    let count =
        |(failpoint, before): (&'static Failpoint, usize)| (failpoint, count_hits(failpoint.name) - before);
    FAILPOINTS.iter().zip(before).map(count).filter(|(_, hits)| *hits > 0).collect()
}

fn complete_and_check(fixture: &LedgerFixture, case: &str) {
    assert!(fixture.finish_distributions().is_empty(), "{case}");
    let unfinished = fixture.read_snapshot(|reads| reads.unfinished_distributions());
    assert_eq!(unfinished, UnfinishedDistributions::default(), "{case}");
    let kind = AccountKind::PeerWallet.code();
    let paid_once = format!("accounts WHERE kind = {kind} AND entry_count = 1 AND balance > 0");
    assert_eq!(fixture.database.count_rows(&paid_once), receiver_count(), "{case}");
    assert_eq!(fixture.reserve_points(), 0, "{case}");
    assert_eq!(fixture.audit_ledger(), [], "{case}");
}

fn check_survivable_fault(template: &Template, failpoint: &Failpoint, (fault, passes): (Fault, usize)) {
    let (fixture, case) = (template.open_copy(), format!("{}: {fault:?}", failpoint.name));
    let hits_before = count_hits(failpoint.name);
    inject(failpoint.name, fault).unwrap();
    // The fault may also occur in the query for unfinished distributions, on this thread.
    let _failed = catch_unwind(AssertUnwindSafe(|| fixture.finish_distributions()));
    clear_all();
    assert!(count_hits(failpoint.name) > hits_before + passes, "{case}");
    complete_and_check(&fixture, &case);
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
    let template = create_template(task["database"] == "sqlite");
    let failpoints = list_passed_failpoints(&template);
    assert!(failpoints.len() > 8, "{failpoints:?}");
    for (number, (failpoint, hits)) in failpoints.iter().enumerate() {
        // The error, the panic and the kill of a failpoint occur at its first, middle and last pass, in turn.
        let passes = |fault: usize| [0, hits / 2, hits - 1][(number + fault) % 3];
        if failpoint.has_error {
            let error = Fault::FailsAfter { passes: passes(0), error: InjectedError::Broken };
            check_survivable_fault(&template, failpoint, (error, passes(0)));
        }
        let panic = Fault::PanicsAfter { passes: passes(1) };
        check_survivable_fault(&template, failpoint, (panic, passes(1)));
        check_kill(&template, failpoint, passes(2));
    }
    println!("faults at {} failpoints", failpoints.len());
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
fn a_fault_during_the_steps_of_a_distribution_pays_each_user_once() {
    for database in super::databases() {
        let test = "failpoints::distribution_steps::child_checks_faults_in_steps";
        let printed = run_passing_child(test, &[("database", database)]);
        assert!(printed.contains("faults at "), "{printed}");
    }
}

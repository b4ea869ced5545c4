//! Errors and panics at each step of a command.

use std::cell::Cell;

use guerdon_persistence::testing::{Failpoint, Fault, InjectedError, Place, clear_all, inject};

use super::child::{find_report, received_task, run_passing_child};
use super::run::{Acknowledged, Run};
use super::test_command::{Mix, Size, Users};
use super::{Template, count_hits, covers_all_statements, failpoints_at, survivable_faults};
use crate::support::{LedgerFixture, create_database};

pub const PLACES_ON_SQLITE: [Place; 2] = [Place::Command, Place::CommandOnSqlite];
pub const PLACES_ON_POSTGRES: [Place; 2] = [Place::Command, Place::CommandOnPostgres];

/// Injects a fault while commands are executed, and checks the database afterwards. Returns whether the fault was hit.
fn check_fault(
    (fixture, users, tag): (&LedgerFixture, &Users, &str),
    failpoint: &str,
    fault: Fault,
    (size, mix): (Size, Mix),
) -> bool {
    let run = Run::prepare(fixture, users, tag, size, mix);
    let mut acknowledged = Acknowledged::new();
    let hits_before = Cell::new(0);
    let start = || {
        hits_before.set(count_hits(failpoint));
        inject(failpoint, fault).unwrap();
    };
    run.execute(&start, &mut |key, body| {
        acknowledged.insert(key.to_owned(), body.to_owned());
    });
    let hits = count_hits(failpoint) - hits_before.get();
    clear_all();
    run.retry_and_check(&acknowledged);
    match fault {
        Fault::FailsAfter { passes, .. } | Fault::PanicsAfter { passes } => hits > passes,
        _ => hits > 0,
    }
}

/// A database with the users of the commands.
struct TemplateWithUsers {
    template: Template,
    users: String,
}

impl TemplateWithUsers {
    fn create(is_embedded: bool) -> Self {
        let fixture = LedgerFixture::new(create_database(is_embedded));
        let users = Users::create(&fixture, "all").to_text();
        Self { template: Template::close(fixture), users }
    }

    fn open_copy(&self) -> (LedgerFixture, Users) {
        (self.template.open_copy(), Users::from_text(&self.users))
    }
}

fn check_failpoint(failpoint: &Failpoint, template: &TemplateWithUsers) -> usize {
    let (fixture, users) = template.open_copy();
    let mut cases = 0;
    for fault in survivable_faults(failpoint) {
        // In a full batch, one kind of error is enough.
        let is_typical = matches!(
            fault,
            Fault::PanicsAfter { .. } | Fault::FailsAfter { error: InjectedError::Broken, .. }
        );
        for size in Size::ALL.into_iter().filter(|size| is_typical || *size == Size::OneCommand) {
            let tag = format!("{cases}");
            let users = users.with_unchanged_objects(&fixture, &tag);
            let mix = Mix::for_failpoint(failpoint.name, size);
            let is_hit = check_fault((&fixture, &users, &tag), failpoint.name, fault, (size, mix));
            assert!(is_hit, "{} was not passed: {fault:?}, {size:?}", failpoint.name);
            cases += 1;
        }
    }
    cases
}

/// The faults at statements, and how many commands are executed together.
const STATEMENT_FAULTS: [(FaultAfter, Size); 4] = [
    (fail_after, Size::OneCommand),
    (panic_after, Size::OneCommand),
    (fail_after, Size::FullBatch),
    (panic_after, Size::FullBatch),
];
/// A test run injects an error at each statement of one command at a time. The other faults occur at every statement
/// whose number is a multiple of this. If a run covers all statements, it also has commands of all kinds.
const OTHER_FAULTS_PERIOD: usize = 7;

/// A fault at the statement after a number of others.
type FaultAfter = fn(usize) -> Fault;

pub fn fail_after(passes: usize) -> Fault {
    Fault::FailsAfter { passes, error: InjectedError::Broken }
}

pub fn panic_after(passes: usize) -> Fault {
    Fault::PanicsAfter { passes }
}

/// Injects a fault at the first statement, then at the statement that is `period` later, and so on, until a run has
/// fewer statements. Returns the number of faults.
fn check_statements(
    template: &TemplateWithUsers,
    (fault_after, size): (FaultAfter, Size),
    period: usize,
) -> usize {
    let (fixture, users) = template.open_copy();
    let mix = if covers_all_statements() { Mix::EachKind } else { Mix::Few };
    let check = |passes: usize| {
        let tag = format!("statement-{passes}");
        let users = users.with_unchanged_objects(&fixture, &tag);
        check_fault((&fixture, &users, &tag), "unit.query", fault_after(passes), (size, mix))
    };
    (0..).step_by(period).take_while(|passes| check(*passes)).count()
}

#[test]
fn child_checks_errors_and_panics_of_commands() {
    let Some(task) = received_task() else { return };
    let is_embedded = task["database"] == "sqlite";
    let places = if is_embedded { PLACES_ON_SQLITE } else { PLACES_ON_POSTGRES };
    let failpoints = failpoints_at(&places);
    let template = TemplateWithUsers::create(is_embedded);
    let cases: usize = failpoints.iter().map(|failpoint| check_failpoint(failpoint, &template)).sum();
    let period = |number: usize| if number == 0 || covers_all_statements() { 1 } else { OTHER_FAULTS_PERIOD };
    let faults = (0..).zip(STATEMENT_FAULTS);
    let faults: Vec<usize> =
        faults.map(|(number, kind)| check_statements(&template, kind, period(number))).collect();
    assert!(faults[0] > 50 && faults.iter().all(|count| *count > 0), "{faults:?}");
    println!("{} failpoints, {cases} cases, {faults:?} faults at statements", failpoints.len());
}

#[test]
fn an_error_or_panic_at_any_step_of_a_command_loses_and_duplicates_nothing() {
    for database in super::databases() {
        let test = "failpoints::commands::child_checks_errors_and_panics_of_commands";
        let printed = run_passing_child(test, &[("database", database)]);
        println!("{database}: {}", find_report(&printed, "faults at"));
    }
}

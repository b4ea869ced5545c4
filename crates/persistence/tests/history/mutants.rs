//! Deliberate defects. With each defect, a history or `verify` must show an anomaly. Without a defect,
//! neither may show one.
//!
//! Mutants are global to a process, so each runs in a child process.

use guerdon_persistence::testing::{
    Database, Fault, InjectedError, MUTANTS, Mutant, clear_all, inject, start_mutant,
};

use super::driver::Driver;
use super::{SEED, find_all_anomalies};
use crate::failpoints::child::{received_task, run_passing_child};
use crate::failpoints::databases;
use crate::support::{LedgerFixture, create_database};

const CHILD: &str = "history::mutants::child_searches_for_anomalies";
/// The operations of one history.
const OPERATIONS: usize = 800;
/// The maximum number of histories, with different seeds, until one shows an anomaly. Threads interleave differently in
/// each run: the mutant that is the hardest to find shows itself in about 30 % of the histories.
const HISTORIES_MAX: u64 = 100;
/// How often the failpoint of a mutant fails, if the mutant needs one.
const FAILURES_PERCENT: u8 = 5;

/// Runs a history while a mutant is switched on, and returns its anomalies.
fn find_anomalies_of(
    mutant: Option<Mutant>,
    failing: Option<&str>,
    is_embedded: bool,
    seed: u64,
) -> Vec<String> {
    let fixture = LedgerFixture::new(create_database(is_embedded));
    let driver = Driver::new(&fixture);
    let start = || {
        if let Some(failpoint) = failing {
            let fault = Fault::FailsSometimes { percent: FAILURES_PERCENT, error: InjectedError::Broken };
            inject(failpoint, fault).unwrap();
        }
        mutant.into_iter().for_each(start_mutant);
    };
    let mut history = driver.run(OPERATIONS, seed, &start);
    clear_all();
    driver.finish(&mut history);
    find_all_anomalies(&fixture, &history)
}

fn applies_to(mutant: &Mutant, is_embedded: bool) -> bool {
    let database = if is_embedded { Database::Sqlite } else { Database::Postgres };
    mutant.only_on.is_none_or(|only_on| only_on == database)
}

#[test]
fn child_searches_for_anomalies() {
    let Some(task) = received_task() else { return };
    let is_embedded = task["database"] == "sqlite";
    let mutant = task.get("mutant").map(|number| MUTANTS[number.parse::<usize>().unwrap()]);
    let Some(mutant) = mutant else {
        // Without a mutant, failures alone cause no anomaly.
        let failpoints =
            ["sqlite.committed", "postgres.committed", "postgres.write.batch_done", "sqlite.insert.events"];
        for failpoint in failpoints.into_iter().filter(|name| name.starts_with(&task["database"])) {
            let anomalies = find_anomalies_of(None, Some(failpoint), is_embedded, SEED);
            assert_eq!(anomalies, [""; 0], "{failpoint}");
        }
        return;
    };
    for seed in SEED..SEED + HISTORIES_MAX {
        let anomalies = find_anomalies_of(Some(mutant), mutant.needs_failures_at, is_embedded, seed);
        if let Some(first) = anomalies.first() {
            println!("{}: {} anomalies in history {}: {first}", mutant.name, anomalies.len(), seed - SEED);
            return;
        }
    }
    panic!("{} was not detected", mutant.name);
}

#[test]
fn every_mutant_is_detected() {
    for database in databases() {
        let is_applicable = |(_, mutant): &(usize, &Mutant)| applies_to(mutant, database == "sqlite");
        for (number, _) in MUTANTS.iter().enumerate().filter(is_applicable) {
            let output = run_passing_child(CHILD, &[("database", database), ("mutant", &number.to_string())]);
            println!(
                "{database}: {}",
                output.lines().find(|line| line.contains(" anomalies ")).unwrap_or("")
            );
        }
    }
}

#[test]
fn failures_without_a_mutant_cause_no_anomaly() {
    for database in databases() {
        run_passing_child(CHILD, &[("database", database)]);
    }
}

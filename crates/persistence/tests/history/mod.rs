//! Histories of concurrent processes on each database, and whether every operation in them can be explained.
//!
//! `HISTORY_OPERATIONS` sets the number of operations on each database, `HISTORY_SEED` the seed, and `HISTORY_FILE` the
//! path of the history files without an extension: `history` becomes `history.sqlite.jsonl` (docs/history-format.md).

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod checker;
mod driver;
mod mutants;
mod record;

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::time::Instant;

use guerdon_persistence::testing::create_databases;

use self::checker::find_anomalies;
use self::driver::Driver;
use self::record::History;
use crate::support::LedgerFixture;

/// The number of operations to run. A history contains about half as many again, because reads and retries follow about
/// half of the moves.
const OPERATIONS_ON_SQLITE: usize = 14_000;
const OPERATIONS_ON_POSTGRES: usize = 10_000;
const SEED: u64 = 29;

fn setting<T: std::str::FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    }
}

/// Writes a history to `HISTORY_FILE` plus `.<database>.jsonl`, or to a temporary file. Returns the path.
fn write_history(history: &History, database: &str) -> PathBuf {
    let begin = std::env::var_os("HISTORY_FILE").map(PathBuf::from);
    let begin = begin.unwrap_or_else(|| std::env::temp_dir().join(format!("history-{}", std::process::id())));
    let path = begin.with_extension(format!("{database}.jsonl"));
    history.write_to(&mut BufWriter::new(File::create(&path).unwrap())).unwrap();
    path
}

/// The anomalies of a history, and those that `verify` finds in the database.
fn find_all_anomalies(fixture: &LedgerFixture, history: &History) -> Vec<String> {
    let mut anomalies = find_anomalies(history);
    anomalies.extend(fixture.audit_ledger().iter().map(|violation| format!("verify: {violation:?}")));
    anomalies
}

#[test]
fn every_operation_of_a_concurrent_history_can_be_explained() {
    let seed = setting("HISTORY_SEED", SEED);
    for database in create_databases() {
        let (name, operations) = if database.is_embedded() {
            ("sqlite", OPERATIONS_ON_SQLITE)
        } else {
            ("postgres", OPERATIONS_ON_POSTGRES)
        };
        let operations = setting("HISTORY_OPERATIONS", operations);
        let fixture = LedgerFixture::new(database);
        let start = Instant::now();
        let driver = Driver::new(&fixture);
        let mut history = driver.run(operations, seed, &|| ());
        driver.finish(&mut history);
        let ran = start.elapsed();
        let anomalies = find_all_anomalies(&fixture, &history);
        println!(
            "{name}: {} operations in {ran:.1?}, checked in {:.1?}, seed {seed}",
            history.operations.len(),
            start.elapsed() - ran
        );
        if !anomalies.is_empty() || std::env::var_os("HISTORY_FILE").is_some() {
            println!("history: {}", write_history(&history, name).display());
        }
        assert!(anomalies.is_empty(), "{} anomalies, seed {seed}: {:#?}", anomalies.len(), &anomalies[..1]);
    }
}

//! Faults at every step of a transaction: an error, a panic, or the end of the process.
//!
//! Failpoints are global to a process, so the cases run in child processes: this test program, started again with one
//! test and a task in its environment.
//!
//! A test run covers each failpoint, and a selection of the statements that pass `unit.query` or a failpoint of the
//! migrations. `FAILPOINT_STATEMENTS=all` covers all statements: an error, a panic and a kill at each of them, with one
//! command at a time and with a full batch.

#![expect(clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

pub mod child;
mod commands;
mod delivery;
mod distribution_steps;
mod kill;
mod migration;
mod notification;
mod run;
mod shared_commit;
mod test_command;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use guerdon_domain::ports::StoreError;
use guerdon_persistence::testing::{
    FAILPOINTS, Failpoint, Fault, InjectedError, MUTANTS, Place, TestDatabase, covers_postgres,
    covers_sqlite, hit_counts,
};

use crate::support::{FixtureIds, LedgerFixture};

/// PostgreSQL notices within moments that a connection is closed.
const UNLOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The faults of a failpoint that do not end the process.
fn survivable_faults(failpoint: &Failpoint) -> Vec<Fault> {
    if !failpoint.has_error {
        return vec![Fault::PanicsAfter { passes: 0 }];
    }
    let mut faults = vec![
        Fault::PanicsAfter { passes: 0 },
        Fault::EachFails(InjectedError::Broken),
        Fault::FailsAfter { passes: 0, error: InjectedError::Broken },
        Fault::FailsAfter { passes: 0, error: InjectedError::Unavailable },
    ];
    // These write a row for each receiver.
    if ["recognitions", "events", "deliveries", "accounts", "transfers"]
        .iter()
        .any(|table| failpoint.name.starts_with("sqlite.") && failpoint.name.ends_with(table))
    {
        faults.push(Fault::FailsAfter { passes: 1, error: InjectedError::Broken });
    }
    // After a successful commit, no server reports a conflict.
    if !failpoint.name.ends_with(".committed") {
        faults.push(Fault::FailsAfter { passes: 0, error: InjectedError::Busy });
    }
    faults
}

/// Whether this run covers all statements instead of a selection.
fn covers_all_statements() -> bool {
    let selected = std::env::var("FAILPOINT_STATEMENTS").ok();
    assert!(
        selected.as_deref().is_none_or(|statements| statements == "all"),
        "{selected:?}: the value is `all`"
    );
    selected.is_some()
}

/// How often a failpoint was passed since the process started.
fn count_hits(failpoint: &str) -> usize {
    hit_counts().get(failpoint).copied().unwrap_or_default()
}

fn failpoints_at(places: &[Place]) -> Vec<&'static Failpoint> {
    FAILPOINTS.iter().filter(|failpoint| places.contains(&failpoint.place)).collect()
}

/// Runs work into which a fault may be injected. Returns `None` if it failed or panicked.
fn catch_failure<T, E>(work: impl FnOnce() -> Result<T, E>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok().and_then(Result::ok)
}

/// Repeats a claim until it has returned `count` rows. A claim skips locked rows, and PostgreSQL releases the locks of
/// a failed transaction or a killed process when it notices that the connection is closed, possibly during a claim.
fn claim_when_unlocked<T>(count: usize, mut claim: impl FnMut() -> Result<Vec<T>, StoreError>) -> Vec<T> {
    let (mut claimed, start) = (Vec::new(), Instant::now());
    loop {
        claimed.extend(claim().unwrap());
        if claimed.len() >= count || start.elapsed() > UNLOCK_TIMEOUT {
            return claimed;
        }
        std::thread::yield_now();
    }
}

fn count_rows(fixture: &LedgerFixture, from: &str) -> usize {
    usize::try_from(fixture.database.count_rows(from)).unwrap()
}

/// A database to which no connection is open, so that it can be copied.
struct Template {
    database: TestDatabase,
    ids: FixtureIds,
}

impl Template {
    fn close(fixture: LedgerFixture) -> Self {
        Self { ids: fixture.fixture_ids(), database: fixture.close() }
    }

    fn open_copy(&self) -> LedgerFixture {
        LedgerFixture::reopen(self.database.duplicate(), &self.ids, 1)
    }
}

/// The databases of this run.
pub fn databases() -> Vec<&'static str> {
    let sqlite = covers_sqlite().then_some("sqlite");
    sqlite.into_iter().chain(covers_postgres().then_some("postgres")).collect()
}

/// The names in calls such as `failpoint("name")` in a folder of sources.
fn names_in_calls(folder: &Path, call: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names.extend(names_in_calls(&path, call));
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let call = format!("{call}(\"");
            let calls = text.split(&call).skip(1);
            names.extend(calls.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        }
    }
    names
}

#[test]
fn the_lists_name_every_failpoint_and_mutant_of_the_sources() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let listed: BTreeSet<String> = FAILPOINTS.iter().map(|failpoint| failpoint.name.to_owned()).collect();
    assert_eq!(listed.len(), FAILPOINTS.len(), "a name is listed twice");
    // `pass_failpoint("name")` contains `failpoint("name")`.
    assert_eq!(names_in_calls(&sources, "failpoint"), listed);
    let mutants: BTreeSet<String> = MUTANTS.iter().map(|mutant| mutant.name.to_owned()).collect();
    assert_eq!(names_in_calls(&sources, "is_mutant"), mutants);
}

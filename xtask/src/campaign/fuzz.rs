//! Damaged input: for each parser, by a fuzzer that follows the paths of the code, and for a running service.
//!
//! `xtask/parser-properties` states what must hold for every input of each parser, `xtask/fuzz` has the fuzzer and the
//! first inputs. The parsers are the same for both databases, so they are fuzzed in the campaign on SQLite.

mod parsers;

use anyhow::Result;

use super::attack::Attack;
use super::context::Setup;
use super::report::Report;
use crate::measurement::service::Database;

/// If parsers are fuzzed too, the duration of the campaign is divided by this number to get the time for damaged
/// requests to the running service.
const REQUEST_TIME_DIVISOR: u32 = 4;

/// Fuzzes every parser, then sends randomly damaged requests to a running service.
pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    if setup.database == Database::Postgres {
        return Attack::DamagedRequests.run(setup);
    }
    let requests_duration = setup.duration / REQUEST_TIME_DIVISOR;
    let mut report = parsers::run(setup, setup.duration - requests_duration)?;
    let requests = Attack::DamagedRequests.run(&Setup { duration: requests_duration, ..*setup })?;
    report.add(requests);
    Ok(report)
}

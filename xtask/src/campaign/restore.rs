//! Simulates the loss of the machine under load, and restores a copy as described in docs/operating.md.
//!
//! In each round, the service and its surroundings are killed with SIGKILL at a random time, the database is deleted,
//! and a copy is restored and verified with a head that was sealed before. The restored ledger is compared with the
//! journal of acknowledged requests. The service then continues on the copy, and the clients send the missing requests
//! again with their keys.

mod litestream;
mod point_in_time;
mod rounds;

use anyhow::Result;
use guerdon_test_harness::WebhookReceiver;

use self::rounds::Rounds;
use super::context::Setup;
use super::event_log::EventLog;
use super::report::{Measurement, Report};
use crate::measurement::service::Database;

pub(super) fn run(setup: &Setup<'_>) -> Result<Report> {
    let receiver = WebhookReceiver::start()?;
    let (mut events, mut rounds) = (EventLog::new(&receiver), Rounds::default());
    let outcome = match setup.database {
        Database::Sqlite => litestream::run_rounds(setup, &receiver, &mut events, &mut rounds),
        Database::Postgres => point_in_time::run_rounds(setup, &receiver, &mut events, &mut rounds),
    };
    let mut report = rounds.summarize(&events);
    report.measurements.extend(outcome.err().map(|error| Measurement::failure(&error)));
    Ok(report)
}

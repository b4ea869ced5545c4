//! Measures how long units of work wait for a connection: the histogram `guerdon_database_wait_seconds`.

use std::time::Duration;

use metrics::{counter, histogram};
use r2d2::event::{CheckoutEvent, TimeoutEvent};

/// Records one wait for a connection.
pub(crate) fn record_wait(duration: Duration) {
    histogram!("guerdon_database_wait_seconds").record(duration);
}

/// Records the waits of a pool.
#[derive(Debug)]
pub(crate) struct PoolWaitRecorder;

impl r2d2::HandleEvent for PoolWaitRecorder {
    fn handle_checkout(&self, event: CheckoutEvent) {
        record_wait(event.duration());
    }

    fn handle_timeout(&self, _event: TimeoutEvent) {
        counter!("guerdon_database_wait_timeouts_total").increment(1);
    }
}

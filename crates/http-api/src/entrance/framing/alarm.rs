//! Measures how long a client makes the service wait.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that runs only while the service waits.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Starts the timer if it is not running. Returns whether `after` has passed since its start; otherwise the task is woken
    /// when it has.
    pub(super) fn rings(&mut self, after: Duration, context: &mut Context<'_>) -> bool {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + after)));
        sleep.as_mut().poll(context).is_ready()
    }

    /// Stops the timer.
    pub(super) fn off(&mut self) {
        self.0 = None;
    }
}

/// A client that reads its responses slowly must make room for at least this many bytes within this time, a little less than
/// 16 KiB per second.
const RESPONSE_STALL_MAX: Duration = Duration::from_secs(30);
const TAKEN_BYTES_MIN: usize = 400 << 10;

/// Whether a client reads its responses.
#[derive(Default)]
pub(super) struct Taking {
    alarm: Alarm,
    /// The bytes that the client has read since the timer was started.
    taken: usize,
}

impl Taking {
    /// The client has read `count` bytes.
    pub(super) fn took(&mut self, count: usize) {
        self.taken += count;
    }

    /// There is no room for more bytes. Returns whether the client has read too little for too long; otherwise the task is woken to
    /// ask again.
    pub(super) fn is_stalled(&mut self, context: &mut Context<'_>) -> bool {
        if self.alarm.0.is_none() {
            self.taken = 0;
        }
        while self.alarm.rings(RESPONSE_STALL_MAX, context) {
            if self.taken < TAKEN_BYTES_MIN {
                return true;
            }
            self.taken = 0;
            self.alarm.off();
        }
        false
    }

    /// The client has read everything.
    pub(super) fn is_done(&mut self) {
        self.alarm.off();
    }
}

//! Measures how long the service waits for a client.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that runs only while the service waits.
#[derive(Default)]
pub(super) struct WaitTimer(Option<Pin<Box<Sleep>>>);

impl WaitTimer {
    /// Starts the timer if it is not running. Returns whether `after` has passed since its start; otherwise the task is
    /// woken when it has.
    pub(super) fn has_elapsed(&mut self, after: Duration, context: &mut Context<'_>) -> bool {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + after)));
        sleep.as_mut().poll(context).is_ready()
    }

    /// Stops the timer.
    pub(super) fn stop_timer(&mut self) {
        self.0 = None;
    }
}

/// A client must read at least `READ_BYTES_MIN` of a response in this time. This is about 13 KiB per second.
const RESPONSE_STALL_MAX: Duration = Duration::from_secs(30);
const READ_BYTES_MIN: usize = 400 << 10;

/// Detects clients that read their responses too slowly.
#[derive(Default)]
pub(super) struct StallDetector {
    timer: WaitTimer,
    /// The bytes that the client has read since the timer was started.
    bytes_read: usize,
}

impl StallDetector {
    /// Records that the client has read `count` bytes.
    pub(super) fn record_read(&mut self, count: usize) {
        self.bytes_read += count;
    }

    /// Called when there is no room for more bytes. Returns whether the client has read too little for too long;
    /// otherwise the task is woken later to call this again.
    pub(super) fn is_stalled(&mut self, context: &mut Context<'_>) -> bool {
        if self.timer.0.is_none() {
            self.bytes_read = 0;
        }
        while self.timer.has_elapsed(RESPONSE_STALL_MAX, context) {
            if self.bytes_read < READ_BYTES_MIN {
                return true;
            }
            self.bytes_read = 0;
            self.timer.stop_timer();
        }
        false
    }

    /// Records that the client has read everything.
    pub(super) fn reset_timer(&mut self) {
        self.timer.stop_timer();
    }
}

//! How long a client is waited for.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// A clock that runs only while somebody waits.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    /// Whether so much time has passed since this was first asked, or since the alarm was last off; if not, the task
    /// is woken when it has.
    pub(super) fn rings(&mut self, after: Duration, context: &mut Context<'_>) -> bool {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + after)));
        sleep.as_mut().poll(context).is_ready()
    }

    /// Nobody waits any longer.
    pub(super) fn off(&mut self) {
        self.0 = None;
    }
}

/// How long a client may leave no room for more of its answers; and how much of them it takes in so long, if it is no more
/// than slow: a little less than 16 KiB a second.
const RESPONSE_STALL_MAX: Duration = Duration::from_secs(30);
const TAKEN_MIN_BYTES: usize = 400 << 10;

/// Whether a client takes its answers.
#[derive(Default)]
pub(super) struct Taking {
    alarm: Alarm,
    /// How much it has taken since the alarm runs.
    taken: usize,
}

impl Taking {
    /// It has taken so much.
    pub(super) fn took(&mut self, count: usize) {
        self.taken += count;
    }

    /// It leaves no room: whether it has taken hardly anything for too long; if not, the task is woken to ask again.
    pub(super) fn is_stalled(&mut self, context: &mut Context<'_>) -> bool {
        if self.alarm.0.is_none() {
            self.taken = 0;
        }
        while self.alarm.rings(RESPONSE_STALL_MAX, context) {
            if self.taken < TAKEN_MIN_BYTES {
                return true;
            }
            self.taken = 0;
            self.alarm.off();
        }
        false
    }

    /// It has taken all there was.
    pub(super) fn is_done(&mut self) {
        self.alarm.off();
    }
}

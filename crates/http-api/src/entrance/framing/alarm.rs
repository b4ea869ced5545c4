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

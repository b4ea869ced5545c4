//! The thread that claims due events from the outbox.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{CLOCK_TOLERANCE, StoreError};

use super::claim_step::{NextRead, OutboxRead, catch_panic, claim_once};
use super::core::ClockReading;
use super::sender_threads::wake_sender;
use super::shared::SharedDispatcher;

/// How often the core's time is advanced while the core is busy.
const TICK_INTERVAL: Duration = Duration::from_millis(10);
/// How long the claimer pauses after a read of the outbox, as a multiple of that read's duration. With many providers a
/// read takes milliseconds, during which nothing else is written to SQLite. The duration does not include the claims:
/// a pause after each large claim would leave the senders idle during a backlog.
const READ_PAUSE_FACTOR: u32 = 2;
/// During a backlog, the outbox is read this many times per scan interval, because providers that could not hold more
/// events may have room again.
const BACKLOG_READS_PER_SCAN: u32 = 4;

/// Claims events until the dispatcher stops: when it is woken, when an event falls due, and at each scan interval.
pub(super) fn claim_until_stopped(shared: &Arc<SharedDispatcher>) {
    let mut claimer = Claimer {
        shared,
        next_read_at: Duration::ZERO,
        earliest_read_at: Duration::ZERO,
        is_woken: false,
        has_failed: false,
        clock_checked_at: None,
    };
    while claimer.wait_and_claim() {}
    shared.lock_state().has_stopped_claiming = true;
    shared.settlements.notify_all();
    shared.progress.notify_all();
}

struct Claimer<'a> {
    shared: &'a Arc<SharedDispatcher>,
    /// When the outbox is read next if the dispatcher is not woken, by the monotonic clock.
    next_read_at: Duration,
    /// When the outbox is read next if the dispatcher is woken, by the monotonic clock.
    earliest_read_at: Duration,
    /// Whether the dispatcher was woken since the last read.
    is_woken: bool,
    has_failed: bool,
    /// When the due times in the store were last checked against the wall clock.
    clock_checked_at: Option<ClockReading>,
}

impl Claimer<'_> {
    /// Waits until the outbox should be read, and reads it. Returns `false` once the dispatcher stops.
    fn wait_and_claim(&mut self) -> bool {
        let now = self.shared.now().monotonic;
        let next_read_at = if self.is_woken { self.earliest_read_at } else { self.next_read_at };
        let is_busy = self.shared.lock_state().core.is_busy();
        let timeout =
            next_read_at.saturating_sub(now).min(if is_busy { TICK_INTERVAL } else { Duration::MAX });
        self.is_woken |= self.shared.parts.wake.wait_timeout(timeout);
        let now = self.shared.now();
        let mut state = self.shared.lock_state();
        if state.is_stopping {
            return false;
        }
        state.core.advance_time(now);
        drop(state);
        self.wake_sender_and_settler();
        if now.monotonic >= if self.is_woken { self.earliest_read_at } else { self.next_read_at } {
            self.claim_events();
        }
        true
    }

    fn claim_events(&mut self) {
        let parts = &self.shared.parts;
        self.is_woken = false;
        self.shared.lock_state().core.set_process_count(parts.processes.get());
        let rescheduled = self.reschedule_if_clock_moved();
        let claimed = rescheduled.and_then(|()| {
            claim_once(self.shared.as_ref(), parts.store.as_ref(), parts.ids.as_ref(), &|| self.shared.now())
        });
        let now = self.shared.now();
        match claimed {
            Ok(OutboxRead { next, duration }) => {
                let pause = duration * READ_PAUSE_FACTOR;
                let limits = &parts.limits;
                self.earliest_read_at =
                    now.monotonic + pause.min(limits.scan_interval).max(limits.scan_interval_min);
                self.next_read_at =
                    self.earliest_read_at.max(now.monotonic + self.wait_until_next(next, now));
                if std::mem::take(&mut self.has_failed) {
                    log::info!("claiming events works again");
                }
            }
            Err(cause) => {
                self.earliest_read_at = now.monotonic + parts.limits.error_backoff;
                self.next_read_at = self.earliest_read_at;
                if !std::mem::replace(&mut self.has_failed, true) {
                    log::warn!(cause:%; "cannot claim events, retrying");
                }
            }
        }
        self.wake_sender_and_settler();
    }

    /// Reschedules events if the wall clock was set back since the last check. Otherwise due times that were computed
    /// with the old clock could delay events by hours or days. The first call always checks the due times, because it
    /// is not known whether the clock was set back before.
    fn reschedule_if_clock_moved(&mut self) -> Result<(), StoreError> {
        let (parts, now) = (&self.shared.parts, self.shared.now());
        let moved_backwards = |earlier: &ClockReading| {
            earlier.wall + (now.monotonic - earlier.monotonic) > now.wall + CLOCK_TOLERANCE
        };
        if self.clock_checked_at.as_ref().is_none_or(moved_backwards) {
            let (waits, lease) = (parts.schedule.waits_by_failed_attempts(), parts.limits.lease);
            let count = catch_panic(|| parts.store.reschedule_after_clock_change(now.wall, &waits, lease))?;
            if count > 0 {
                log::warn!(events = count; "the system clock moved backwards: rescheduled pending events");
            }
        }
        self.clock_checked_at = Some(now);
        Ok(())
    }

    fn wake_sender_and_settler(&self) {
        let state = self.shared.lock_state();
        let (can_start, has_settlements) = (state.core.can_start(), state.core.has_settlements());
        drop(state);
        if can_start {
            wake_sender(self.shared);
        }
        if has_settlements {
            self.shared.settlements.notify_one();
        }
    }

    fn wait_until_next(&self, next: NextRead, now: ClockReading) -> Duration {
        let scan = self.shared.parts.limits.scan_interval;
        match next {
            NextRead::Backlog => scan / BACKLOG_READS_PER_SCAN,
            NextRead::At(None) => scan,
            NextRead::At(Some(due)) => Duration::try_from(due - now.wall).unwrap_or_default().min(scan),
        }
    }
}

//! The thread that claims due events from the outbox.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{CLOCK_TOLERANCE, StoreError};

use super::core::Now;
use super::senders::summon;
use super::shared::Shared;
use super::step::{NextLook, guarded, step};

/// How often the core's timers run while it is busy.
const TICK: Duration = Duration::from_millis(10);
/// With a backlog, the outbox is read this many times per scan interval, because providers that had no room may have
/// some by then.
const LOOKS_AT_A_BACKLOG: u32 = 4;

/// Claims events until the dispatcher stops: when it is woken, when an event falls due, and at each scan interval.
pub(super) fn claim_until_stopped(shared: &Arc<Shared>) {
    let mut claimer = Claimer {
        shared,
        look_at: Duration::ZERO,
        not_before: Duration::ZERO,
        is_rung: false,
        failed: false,
        sound_at: None,
    };
    while claimer.wait_and_look() {}
    shared.state().claims_no_more = true;
    shared.settlements.notify_all();
    shared.progress.notify_all();
}

struct Claimer<'a> {
    shared: &'a Arc<Shared>,
    /// The latest time of the next read, by the monotonic clock.
    look_at: Duration,
    /// The earliest time of the next read, by the monotonic clock.
    not_before: Duration,
    /// Whether the dispatcher was woken since the last read.
    is_rung: bool,
    failed: bool,
    /// When stored due times were last known to agree with this wall clock.
    sound_at: Option<Now>,
}

impl Claimer<'_> {
    /// Waits until the outbox should be read, and reads it. Returns `false` once the dispatcher stops.
    fn wait_and_look(&mut self) -> bool {
        let now = self.shared.now().steady;
        let look_at = if self.is_rung { self.not_before } else { self.look_at };
        let is_busy = self.shared.state().core.is_busy();
        let at_most = look_at.saturating_sub(now).min(if is_busy { TICK } else { Duration::MAX });
        self.is_rung |= self.shared.parts.wake.wait(at_most);
        let now = self.shared.now();
        let mut state = self.shared.state();
        if state.is_stopping {
            return false;
        }
        state.core.tick(now);
        drop(state);
        self.set_others_going();
        if now.steady >= if self.is_rung { self.not_before } else { self.look_at } {
            self.look();
        }
        true
    }

    fn look(&mut self) {
        let parts = &self.shared.parts;
        self.is_rung = false;
        self.shared.state().core.share(parts.processes.count());
        let looked = self.bring_back().and_then(|()| {
            step(self.shared.as_ref(), parts.journal.as_ref(), parts.ids.as_ref(), &|| self.shared.now())
        });
        let now = self.shared.now();
        match looked {
            Ok(next) => {
                self.not_before = now.steady + parts.limits.pause;
                self.look_at = self.not_before.max(now.steady + self.until_next(next, now));
                if std::mem::take(&mut self.failed) {
                    log::info!("events can be claimed again");
                }
            }
            Err(cause) => {
                self.not_before = now.steady + parts.limits.back_off;
                self.look_at = self.not_before;
                if !std::mem::replace(&mut self.failed, true) {
                    log::warn!("events cannot be claimed: {cause}");
                }
            }
        }
        self.set_others_going();
    }

    /// Reschedules events if the wall clock was set back since the last read, or may have been since another process
    /// ran. Their due times, written by the old clock, would otherwise delay them by hours or days.
    fn bring_back(&mut self) -> Result<(), StoreError> {
        let (parts, now) = (&self.shared.parts, self.shared.now());
        let is_back = |then: &Now| then.wall + (now.steady - then.steady) > now.wall + CLOCK_TOLERANCE;
        if self.sound_at.as_ref().is_none_or(is_back) {
            let (waits, lease) = (parts.schedule.waits(), parts.limits.lease);
            let count = guarded(|| parts.journal.bring_back(now.wall, &waits, lease))?;
            if count > 0 {
                log::warn!("the clock was set back: {count} events wait no longer than they would have");
            }
        }
        self.sound_at = Some(now);
        Ok(())
    }

    fn set_others_going(&self) {
        let state = self.shared.state();
        let (can_start, has_to_settle) = (state.core.can_start(), state.core.has_to_settle());
        drop(state);
        if can_start {
            summon(self.shared);
        }
        if has_to_settle {
            self.shared.settlements.notify_one();
        }
    }

    fn until_next(&self, next: NextLook, now: Now) -> Duration {
        let scan = self.shared.parts.limits.scan;
        match next {
            NextLook::Backlog => scan / LOOKS_AT_A_BACKLOG,
            NextLook::At(None) => scan,
            NextLook::At(Some(due)) => Duration::try_from(due - now.wall).unwrap_or_default().min(scan),
        }
    }
}

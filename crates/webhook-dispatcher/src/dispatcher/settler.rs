//! The thread that writes settlements.

use std::sync::{Arc, PoisonError};

use super::senders::summon;
use super::shared::Shared;
use super::step::guarded;

/// Settles until the dispatcher has stopped and nothing is left. While one transaction is being written, settlements
/// accumulate for the next one, so the batch size follows the load.
pub(super) fn settle_until_stopped(shared: &Arc<Shared>) {
    let mut failed = false;
    loop {
        let state = shared.state();
        let mut state = shared
            .settlements
            .wait_while(state, |state| !state.core.has_to_settle() && !state.is_over() && !state.is_abandoned)
            .unwrap_or_else(PoisonError::into_inner);
        if state.is_abandoned || !state.core.has_to_settle() {
            return;
        }
        let batch = state.core.take_to_settle();
        drop(state);
        let written = guarded(|| shared.parts.journal.settle(&batch));
        match written {
            Ok(()) => {
                if std::mem::take(&mut failed) {
                    log::info!("deliveries can be recorded again");
                }
                let now = shared.now();
                let mut state = shared.state();
                let is_hungry = state.core.settled(&batch, now);
                let (can_start, in_flight) = (state.core.can_start(), state.core.in_flight());
                drop(state);
                shared.parts.observer.in_flight(in_flight);
                if can_start {
                    summon(shared);
                }
                if is_hungry {
                    shared.parts.wake.wake();
                }
                shared.progress.notify_all();
            }
            Err(cause) => {
                if !std::mem::replace(&mut failed, true) {
                    log::warn!("deliveries cannot be recorded: {cause}");
                }
                let mut state = shared.state();
                state.core.not_settled(batch);
                let paused =
                    shared
                        .progress
                        .wait_timeout_while(state, shared.parts.limits.back_off, |state| !state.is_abandoned);
                drop(paused);
            }
        }
    }
}

//! The thread that writes settlements.

use std::sync::{Arc, PoisonError};

use super::claim_step::catch_panic;
use super::sender_threads::wake_sender;
use super::shared::SharedDispatcher;

/// Writes settlements until the dispatcher has stopped and none is left. While a transaction is being written,
/// settlements accumulate for the next one, so the batch size follows the load.
pub(super) fn settle_until_stopped(shared: &Arc<SharedDispatcher>) {
    let mut has_failed = false;
    loop {
        let state = shared.lock_state();
        let mut state = shared
            .settlements
            .wait_while(state, |state| {
                !state.core.has_settlements() && !state.is_finished() && !state.is_abandoned
            })
            .unwrap_or_else(PoisonError::into_inner);
        if state.is_abandoned || !state.core.has_settlements() {
            return;
        }
        let batch = state.core.take_settlement_batch();
        drop(state);
        let result = catch_panic(|| shared.parts.store.record_settlements(&batch));
        match result {
            Ok(()) => {
                if std::mem::take(&mut has_failed) {
                    log::info!("storing the results of deliveries works again");
                }
                let now = shared.now();
                let mut state = shared.lock_state();
                let needs_claim = state.core.confirm_settlements(&batch, now);
                let (can_start, in_flight) = (state.core.can_start(), state.core.in_flight());
                drop(state);
                shared.parts.observer.set_in_flight(in_flight);
                if can_start {
                    wake_sender(shared);
                }
                if needs_claim {
                    shared.parts.wake.notify_one();
                }
                shared.progress.notify_all();
            }
            Err(cause) => {
                if !std::mem::replace(&mut has_failed, true) {
                    log::warn!(cause:%; "cannot store the results of deliveries, retrying");
                }
                let mut state = shared.lock_state();
                state.core.requeue_settlements(batch);
                let paused =
                    shared.progress.wait_timeout_while(state, shared.parts.limits.error_backoff, |state| {
                        !state.is_abandoned
                    });
                drop(paused);
            }
        }
    }
}

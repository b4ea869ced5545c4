//! The sender threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Instant;

use guerdon_domain::ports::DeliveryOutcome;

use super::core::{AttemptReport, StartedAttempt};
use super::observer::AttemptResult;
use super::shared::SharedDispatcher;
use crate::sender::{AttemptOutcome, DeliveryRequest};

/// The size of a sender thread's stack. It is enough for a TLS handshake in an unoptimised build. The system commits
/// only the pages that are used.
const STACK_BYTES: usize = 512 * 1024;

/// Makes an idle or a new thread begin the next attempt. A thread that begins an attempt calls this function again if
/// another attempt may begin, so one call is enough for any number of attempts.
pub(super) fn wake_sender(shared: &Arc<SharedDispatcher>) {
    let mut state = shared.lock_state();
    if state.idle > 0 {
        drop(state);
        shared.work.notify_one();
        return;
    }
    if state.is_stopping || state.threads >= shared.parts.limits.senders {
        return;
    }
    state.threads += 1;
    drop(state);
    let sender = Arc::clone(shared);
    let started = thread::Builder::new()
        .name("webhook-sender".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || send_until_idle(&sender));
    let mut state = shared.lock_state();
    let failed_before = std::mem::replace(&mut state.cannot_start_thread, started.is_err());
    if let Err(failure) = started {
        state.threads -= 1;
        drop(state);
        if !failed_before {
            log::warn!(cause:% = failure; "cannot start a thread to send events, retrying");
        }
    }
}

fn send_until_idle(shared: &Arc<SharedDispatcher>) {
    let mut state = shared.lock_state();
    while !state.is_stopping {
        if let Some(attempt) = state.core.start_attempt(shared.now()) {
            let (can_start, in_flight) = (state.core.can_start(), state.core.in_flight());
            drop(state);
            if can_start {
                wake_sender(shared);
            }
            shared.parts.observer.set_in_flight(in_flight);
            run_attempt(shared, &attempt);
            state = shared.lock_state();
            continue;
        }
        state.idle += 1;
        let waited = shared.work.wait_timeout(state, shared.parts.limits.idle_timeout);
        let (woken_state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        state = woken_state;
        state.idle -= 1;
        if timeout.timed_out() && !state.core.can_start() && state.threads > shared.parts.limits.fast_senders
        {
            break;
        }
    }
    state.threads -= 1;
    drop(state);
    shared.progress.notify_all();
}

fn run_attempt(shared: &Arc<SharedDispatcher>, attempt: &StartedAttempt) {
    let StartedAttempt { provider, event } = attempt;
    let request = DeliveryRequest { provider, event: event.id, body: &event.body };
    let (started, started_at) = (Instant::now(), shared.parts.clock.now());
    // A panic must fail only this attempt, not end the sender thread.
    let outcome = catch_unwind(AssertUnwindSafe(|| shared.parts.sender.attempt_delivery(&request)));
    let outcome = outcome.unwrap_or_else(|_panic| AttemptOutcome {
        started_at,
        ended_at: shared.parts.clock.now(),
        duration: started.elapsed(),
        status: None,
        failure: Some("an error in this service".to_owned()),
        response_headers: None,
        response_body: Vec::new(),
    });
    let (result, duration, failure) = (classify_outcome(&outcome), outcome.duration, outcome.failure.clone());
    let attempt_id = shared.parts.ids.next_id();
    let report = shared.lock_state().core.finish_attempt(event, attempt_id, outcome);
    shared.settlements.notify_one();
    shared.parts.observer.attempt_ended(provider.id, result, duration);
    log_result(shared, attempt, report, failure.as_deref());
}

fn classify_outcome(outcome: &AttemptOutcome) -> AttemptResult {
    match (outcome.failure.is_none(), outcome.status) {
        (true, _) => AttemptResult::Delivered,
        (false, Some(_)) => AttemptResult::Rejected,
        (false, None) => AttemptResult::Failed,
    }
}

fn log_result(
    shared: &SharedDispatcher,
    attempt: &StartedAttempt,
    report: AttemptReport,
    failure: Option<&str>,
) {
    let (event, provider, number) = (attempt.event.id, attempt.provider.id, report.number);
    let failure = failure.unwrap_or_default();
    match report.outcome {
        DeliveryOutcome::Delivered => log::debug!(
            event_id:% = event, provider_id:% = provider, attempt = number;
            "delivered an event"
        ),
        DeliveryOutcome::Exhausted => {
            shared.parts.observer.event_exhausted();
            log::warn!(
                event_id:% = event, provider_id:% = provider, attempt = number, failure;
                "gave up on an event after its last attempt"
            );
        }
        _ => log::info!(
            event_id:% = event, provider_id:% = provider, attempt = number, failure;
            "an attempt to deliver an event failed"
        ),
    }
}

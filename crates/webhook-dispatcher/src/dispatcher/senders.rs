//! The sender threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Instant;

use guerdon_domain::ports::Fate;

use super::core::{Job, Report};
use super::observer::AttemptResult;
use super::shared::Shared;
use crate::courier::{Order, Outcome};

/// Enough for a TLS handshake in a build without optimisation. The system commits only the pages that are used.
const STACK_BYTES: usize = 512 * 1024;

/// Makes an idle or a new thread begin the next attempt. A thread that begins one calls this again if another may
/// begin, so one call starts any number of attempts.
pub(super) fn summon(shared: &Arc<Shared>) {
    let mut state = shared.state();
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
    if let Err(cause) = started {
        log::warn!("no thread for sending events: {cause}");
        shared.state().threads -= 1;
    }
}

fn send_until_idle(shared: &Arc<Shared>) {
    let mut state = shared.state();
    while !state.is_stopping {
        if let Some(job) = state.core.start(shared.now()) {
            let (can_start, in_flight) = (state.core.can_start(), state.core.in_flight());
            drop(state);
            if can_start {
                summon(shared);
            }
            shared.parts.observer.in_flight(in_flight);
            send(shared, &job);
            state = shared.state();
            continue;
        }
        state.idle += 1;
        let waited = shared.work.wait_timeout(state, shared.parts.limits.idle_max);
        let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        state = woken;
        state.idle -= 1;
        if timeout.timed_out() && !state.core.can_start() && state.threads > shared.parts.limits.brisk_senders
        {
            break;
        }
    }
    state.threads -= 1;
    drop(state);
    shared.progress.notify_all();
}

fn send(shared: &Arc<Shared>, job: &Job) {
    let order = Order { provider: &job.provider, event: job.event.id, body: &job.event.body };
    let (began, began_at) = (Instant::now(), shared.parts.clock.now());
    // A panic must cost one attempt, not a sender thread.
    let outcome = catch_unwind(AssertUnwindSafe(|| shared.parts.courier.attempt(&order)));
    let outcome = outcome.unwrap_or_else(|_panic| Outcome {
        started_at: began_at,
        ended_at: shared.parts.clock.now(),
        duration: began.elapsed(),
        status: None,
        cause: Some("a fault of the service".to_owned()),
        answer: Vec::new(),
    });
    let (result, took, cause) = (result_of(&outcome), outcome.duration, outcome.cause.clone());
    let attempt = shared.parts.ids.next();
    let report = shared.state().core.finish(&job.event, attempt, outcome);
    shared.settlements.notify_one();
    shared.parts.observer.attempt_ended(job.provider.id, result, took);
    tell(shared, job, report, cause.as_deref());
}

fn result_of(outcome: &Outcome) -> AttemptResult {
    match (outcome.cause.is_none(), outcome.status) {
        (true, _) => AttemptResult::Delivered,
        (false, Some(_)) => AttemptResult::Rejected,
        (false, None) => AttemptResult::Failed,
    }
}

fn tell(shared: &Shared, job: &Job, report: Report, cause: Option<&str>) {
    let (event, provider, number) = (job.event.id, job.provider.id, report.number);
    let cause = cause.unwrap_or_default();
    match report.fate {
        Fate::Delivered => log::debug!(
            event_id:% = event, provider_id:% = provider, attempt = number;
            "event {event} delivered to provider {provider}, attempt {number}"
        ),
        Fate::Exhausted => {
            shared.parts.observer.exhausted();
            log::warn!(
                event_id:% = event, provider_id:% = provider, attempt = number;
                "event {event} given up for provider {provider} after attempt {number}: {cause}"
            );
        }
        _ => log::info!(
            event_id:% = event, provider_id:% = provider, attempt = number;
            "event {event} not delivered to provider {provider}, attempt {number}: {cause}"
        ),
    }
}

//! Waits for events (behaviour 25.8).
//!
//! A waiting request is a future that holds no thread, database connection, permit or memory for its response. It polls
//! the feed whenever it is woken, and periodically, because not every change wakes it. Each poll is a short read like
//! that of any other request. The number of waiting requests is limited only by the number of open connections.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpMessage as _, HttpRequest};
use guerdon_domain::ports::{Consistency, FeedPage, FeedQuery, ReadTx};
use tokio::time::{Instant, sleep, sleep_until};

use super::feed::{EVENT_BYTES_MAX, read_page, read_query, render_page};
use crate::feed_signal::FeedSubscription;
use crate::operation::{
    ApiError, ApiState, Call, ErrorCode, RenderedResponse, confirm_caller, read_blocking, read_unconfirmed,
};
use crate::request_info::{ClientEnd, TimeWaited};

/// The shortest time between two polls. On PostgreSQL, committed events become visible only when no older transaction
/// is open. Therefore the first poll after a commit follows quickly, and the interval doubles with each further poll.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// The longest time between two polls, unless very many requests wait.
const POLL_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// The result of a poll.
enum PollResult {
    /// The response, if exactly one event was found. This is the common case for a waiting request.
    Response(RenderedResponse),
    /// Several events, which are not read yet.
    Page(FeedPage),
    /// No match so far, but more events to look at.
    Continues,
    /// No match, and no more events.
    End,
}

/// Runs the operation for a request.
pub(crate) async fn run_long_poll(
    state: Arc<ApiState>,
    call: Call,
    request: HttpRequest,
) -> Result<RenderedResponse, ApiError> {
    let (mut query, wait_max) = call.parse_query(|query| read_query(call.scope, query))?;
    let result = if wait_max.is_zero() {
        poll_feed(&state, &call, &mut query).await?
    } else {
        wait_for_events(&state, &call, &mut query, wait_max, &request).await?
    };
    let page = match result {
        PollResult::Response(response) => return Ok(response),
        PollResult::Page(page) => page,
        PollResult::Continues | PollResult::End => return render_page(&[], query.after),
    };
    let bytes = page.ids.len().saturating_mul(EVENT_BYTES_MAX);
    let memory = state.work_memory.acquire_bytes(call.scope, bytes).await?;
    let read = move |reads: &mut dyn ReadTx| read_page(reads, &page);
    let response = read_blocking(&state, call.caller.clone(), Consistency::Snapshot, read).await?;
    Ok(response.with_memory(memory))
}

/// Waits until there are events, the time has passed, the client disconnects, or draining or maintenance mode begins.
/// Returns the last poll. Fails if the first poll fails, or if the caller lost access; a later poll that fails for
/// another reason is ignored.
async fn wait_for_events(
    state: &Arc<ApiState>,
    call: &Call,
    query: &mut FeedQuery,
    wait_max: Duration,
    request: &HttpRequest,
) -> Result<PollResult, ApiError> {
    let deadline = Instant::now() + wait_max;
    // Subscribes before the first poll, so that no event is missed between the poll and the wait.
    let mut subscription = state.api.feed_signal.subscribe(call.scope);
    let client_end = request.conn_data::<ClientEnd>().cloned().unwrap_or_default();
    let (mut waited, mut interval) = (Duration::ZERO, POLL_INTERVAL_MIN.max(subscription.round()));
    let mut result = poll_feed(state, call, query).await?;
    loop {
        let is_end = match result {
            PollResult::Response(_) | PollResult::Page(_) => return Ok(result),
            PollResult::End => true,
            PollResult::Continues => false,
        };
        let started_at = Instant::now();
        let next_poll =
            async { if is_end { wait_for_next_poll(&mut subscription, interval).await } else { interval } };
        let next = tokio::select! {
            biased;
            () = client_end.ended() => None,
            () = state.api.service_state.interrupted() => None,
            () = sleep_until(deadline) => None,
            next = next_poll => Some(next),
        };
        waited += started_at.elapsed();
        request.extensions_mut().insert(TimeWaited(waited));
        let Some(next) = next else { return Ok(result) };
        interval = next;
        result = match poll_feed(state, call, query).await {
            Err(error) if error.details().code == ErrorCode::Unauthorized => return Err(error),
            polled => polled.unwrap_or(PollResult::End),
        };
    }
}

/// Waits for the next poll. Returns the interval until the one after it.
async fn wait_for_next_poll(subscription: &mut FeedSubscription, interval: Duration) -> Duration {
    let round = subscription.round();
    sleep(POLL_INTERVAL_MIN).await; // so that many commits lead to one poll
    tokio::select! {
        is_own = subscription.await_commit() => if is_own { POLL_INTERVAL_MIN } else { POLL_INTERVAL_MIN.max(round) },
        () = sleep(interval.saturating_sub(POLL_INTERVAL_MIN)) => interval.saturating_mul(2).min(POLL_INTERVAL_MAX.max(round)),
    }
}

/// Looks for events once, and moves the query past events that do not match. Reads a single event at once, because it
/// needs little memory. Only a poll that found events confirms the caller, so that waiting requests cost no more
/// reads.
async fn poll_feed(
    state: &Arc<ApiState>,
    call: &Call,
    query: &mut FeedQuery,
) -> Result<PollResult, ApiError> {
    let memory = state.work_memory.acquire_bytes(call.scope, EVENT_BYTES_MAX).await?;
    let (start, caller) = (*query, call.caller.clone());
    let poll = move |state: &ApiState, reads: &mut dyn ReadTx| {
        let page = reads.find_feed_page(&start)?;
        if !page.ids.is_empty() {
            confirm_caller(&caller, reads, state.api.context_sources.clock.now())?;
        }
        let next = page.next;
        let result = match page.ids.len() {
            0 if next == start.after => PollResult::End,
            0 => PollResult::Continues,
            1 => PollResult::Response(read_page(reads, &page)?),
            _ => PollResult::Page(page),
        };
        Ok((result, next))
    };
    let (result, next) = read_unconfirmed(state, call.scope, Consistency::Snapshot, poll).await?;
    query.after = next;
    Ok(match result {
        PollResult::Response(response) => PollResult::Response(response.with_memory(memory)),
        other => other,
    })
}

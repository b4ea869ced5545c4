//! Reads that can wait until there is something to read (behaviour 25.8).
//!
//! A waiting request is a future that holds no thread, database connection, permit or memory for its response. It calls
//! [`LongPoll::poll`] whenever it is woken, and periodically, because not every change wakes it. Each call, a *poll*,
//! is a short read like that of any other request. The number of waiting requests is limited only by the number of open
//! connections.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpMessage as _, HttpRequest};
use guerdon_domain::ports::{Consistency, ReadTx};
use tokio::time::{Instant, sleep, sleep_until};

use crate::feed_signal::FeedSubscription;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::operation_docs::OperationDocs;
use crate::operation::read::read_blocking;
use crate::operation::response::RenderedResponse;
use crate::operation::state::ApiState;
use crate::request_info::{ClientEnd, TimeWaited};

/// The shortest time between two polls. On PostgreSQL, committed events become visible only when no older transaction
/// is open. Therefore the first poll after a commit follows quickly, and the interval doubles with each further poll.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// The longest time between two polls, unless very many requests wait.
const POLL_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// A read that can wait until there is something to read.
pub(crate) trait LongPoll: OperationDocs + 'static {
    /// What to read.
    type Query: Copy + Send + 'static;
    /// What a poll found, without the data.
    type Page: Send + 'static;

    /// The memory of one poll, including the response if its page needs no more than this.
    const POLL_BYTES_MAX: usize;

    /// Parses the query of a call: what to read, and how long to wait.
    fn parse_query(call: &Call) -> Result<(Self::Query, Duration), ApiError>;

    /// Looks for something to read once, and moves the query past data that does not match.
    fn poll(reads: &mut dyn ReadTx, query: &mut Self::Query) -> Result<PollResult<Self::Page>, ApiError>;

    /// Renders the response to a query that found nothing.
    fn empty_response(query: &Self::Query) -> Result<RenderedResponse, ApiError>;

    /// The memory that the response with a page needs.
    fn estimate_memory(page: &Self::Page) -> usize;

    /// Reads the data of a page and renders the response.
    fn read_page(reads: &mut dyn ReadTx, page: &Self::Page) -> Result<RenderedResponse, ApiError>;
}

/// The result of a poll.
#[derive(Debug)]
pub(crate) enum PollResult<T> {
    /// Something to read.
    Found(T),
    /// No match so far, but more data to look at.
    Continues,
    /// No match, and no more data.
    End,
}

/// What a poll found.
enum Finding<P: LongPoll> {
    /// The response with a page that needs little memory, as most pages do whose request waited.
    Response(RenderedResponse),
    Page(P::Page),
}

/// Runs the operation for a request.
pub(crate) async fn run_long_poll<P: LongPoll>(
    state: Arc<ApiState>,
    call: Call,
    request: HttpRequest,
) -> Result<RenderedResponse, ApiError> {
    let (mut query, wait_max) = P::parse_query(&call)?;
    let result = if wait_max.is_zero() {
        poll_and_read::<P>(&state, &call, &mut query).await?
    } else {
        wait_for_data::<P>(&state, &call, &mut query, wait_max, &request).await?
    };
    let page = match result {
        PollResult::Found(Finding::Response(response)) => return Ok(response),
        PollResult::Found(Finding::Page(page)) => page,
        PollResult::Continues | PollResult::End => return P::empty_response(&query),
    };
    let memory = state.work_memory.acquire_bytes(call.scope, P::estimate_memory(&page)).await?;
    let read = move |reads: &mut dyn ReadTx| P::read_page(reads, &page);
    let response = read_blocking(&state, call.scope, Consistency::Snapshot, read).await?;
    Ok(response.with_memory(memory))
}

/// Waits until there is something to read, the time has passed, the client disconnects, or draining or maintenance mode
/// begins. Returns the last poll. Fails if the first poll fails; a later poll that fails is ignored.
async fn wait_for_data<P: LongPoll>(
    state: &Arc<ApiState>,
    call: &Call,
    query: &mut P::Query,
    wait_max: Duration,
    request: &HttpRequest,
) -> Result<PollResult<Finding<P>>, ApiError> {
    let deadline = Instant::now() + wait_max;
    // Subscribes before the first poll, so that no event is missed between the poll and the wait.
    let mut subscription = state.api.feed_signal.subscribe(call.scope);
    let client_end = request.conn_data::<ClientEnd>().cloned().unwrap_or_default();
    let (mut waited, mut interval) = (Duration::ZERO, POLL_INTERVAL_MIN.max(subscription.round()));
    let mut result = poll_and_read::<P>(state, call, query).await?;
    loop {
        let is_end = match result {
            PollResult::Found(_) => return Ok(result),
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
        result = poll_and_read::<P>(state, call, query).await.unwrap_or(PollResult::End);
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

/// Looks for something to read, and reads it if it needs little memory.
async fn poll_and_read<P: LongPoll>(
    state: &Arc<ApiState>,
    call: &Call,
    query: &mut P::Query,
) -> Result<PollResult<Finding<P>>, ApiError> {
    let memory = state.work_memory.acquire_bytes(call.scope, P::POLL_BYTES_MAX).await?;
    let start = *query;
    let poll = move |reads: &mut dyn ReadTx| {
        let mut query = start;
        let result = match P::poll(reads, &mut query)? {
            PollResult::Found(page) if P::estimate_memory(&page) <= P::POLL_BYTES_MAX => {
                PollResult::Found(Finding::Response(P::read_page(reads, &page)?))
            }
            PollResult::Found(page) => PollResult::Found(Finding::Page(page)),
            PollResult::Continues => PollResult::Continues,
            PollResult::End => PollResult::End,
        };
        Ok((result, query))
    };
    let (result, moved) = read_blocking(state, call.scope, Consistency::Snapshot, poll).await?;
    *query = moved;
    Ok(match result {
        PollResult::Found(Finding::Response(response)) => {
            PollResult::Found(Finding::Response(response.with_memory(memory)))
        }
        other => other,
    })
}

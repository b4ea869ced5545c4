//! Reads that can wait until there is something to read (behaviour 25.8).
//!
//! A waiting request is a future that holds no thread, database connection, permit or memory for its response. It calls
//! [`LongPoll::look`] whenever it is woken, and periodically, because not every change wakes it. Each call, a *look*,
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

/// The shortest time between two looks. On PostgreSQL, committed events become visible only when no older transaction
/// is open. Therefore the first look after a commit follows quickly, and the interval doubles with each further look.
const LOOK_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// The longest time between two looks, unless very many requests wait.
const LOOK_INTERVAL_MAX: Duration = Duration::from_secs(1);

/// A read that can wait until there is something to read.
pub(crate) trait LongPoll: OperationDocs + 'static {
    /// What to read.
    type Query: Copy + Send + 'static;

    /// The memory that one look needs.
    const LOOK_BYTES_MAX: usize;

    /// Parses the query of a call: what to read, and how long to wait.
    fn parse_query(call: &Call) -> Result<(Self::Query, Duration), ApiError>;

    /// Looks for something to read, and moves the query past data that does not match.
    fn look(reads: &mut dyn ReadTx, query: &mut Self::Query) -> Result<Look, ApiError>;

    /// Reads the data and renders the response. Also returns whether there was nothing to read.
    fn execute_read(
        reads: &mut dyn ReadTx,
        query: &Self::Query,
    ) -> Result<(RenderedResponse, bool), ApiError>;

    /// The memory that the largest response to such a query needs.
    fn estimate_memory(query: &Self::Query) -> usize;
}

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Something to read.
    Found,
    /// No match so far, but more data to look at.
    Continues,
    /// No match, and no more data.
    End,
}

/// Runs the operation for a request.
pub(crate) async fn run_long_poll<P: LongPoll>(
    state: Arc<ApiState>,
    call: Call,
    request: HttpRequest,
) -> Result<RenderedResponse, ApiError> {
    let (mut query, wait_max) = P::parse_query(&call)?;
    let (deadline, mut waited) = (Instant::now() + wait_max, Duration::ZERO);
    loop {
        let mut is_found = false;
        if !wait_max.is_zero() {
            let wait;
            (is_found, wait) = wait_for_data::<P>(&state, &call, &mut query, deadline, &request).await?;
            waited += wait;
            request.extensions_mut().insert(TimeWaited(waited));
        }
        let memory = state.work_memory.acquire_bytes(call.scope, P::estimate_memory(&query)).await?;
        let read = move |reads: &mut dyn ReadTx| P::execute_read(reads, &query);
        let (response, is_empty) = read_blocking(&state, call.scope, Consistency::Snapshot, read).await?;
        // On PostgreSQL, a transaction that ends during a read hides later events from that read.
        if !(is_found && is_empty) || Instant::now() >= deadline {
            return Ok(response.with_memory(memory));
        }
    }
}

/// Waits until there is something to read, the deadline passes, the client disconnects, or draining or maintenance mode
/// begins. Returns whether there is something to read, and how long the request waited between its looks. Fails if the
/// first look fails; a later look that fails is ignored.
async fn wait_for_data<P: LongPoll>(
    state: &Arc<ApiState>,
    call: &Call,
    query: &mut P::Query,
    deadline: Instant,
    request: &HttpRequest,
) -> Result<(bool, Duration), ApiError> {
    // Subscribes before the first look, so that no event is missed between the look and the wait.
    let mut subscription = state.api.feed_signal.subscribe(call.scope);
    let client_end = request.conn_data::<ClientEnd>().cloned().unwrap_or_default();
    let (mut waited, mut interval) = (Duration::ZERO, LOOK_INTERVAL_MIN.max(subscription.round()));
    let mut found = look::<P>(state, call, query).await?;
    while found != Look::Found {
        let started_at = Instant::now();
        let next_look = async {
            if found == Look::End { wait_for_look(&mut subscription, interval).await } else { interval }
        };
        let next = tokio::select! {
            biased;
            () = client_end.ended() => None,
            () = state.api.service_state.interrupted() => None,
            () = sleep_until(deadline) => None,
            next = next_look => Some(next),
        };
        waited += started_at.elapsed();
        let Some(next) = next else { break };
        interval = next;
        found = look::<P>(state, call, query).await.unwrap_or(Look::End);
    }
    Ok((found == Look::Found, waited))
}

/// Waits for the next look. Returns the interval until the one after it.
async fn wait_for_look(subscription: &mut FeedSubscription, interval: Duration) -> Duration {
    let round = subscription.round();
    sleep(LOOK_INTERVAL_MIN).await; // so that many commits lead to one look
    tokio::select! {
        is_own = subscription.await_commit() => if is_own { LOOK_INTERVAL_MIN } else { LOOK_INTERVAL_MIN.max(round) },
        () = sleep(interval.saturating_sub(LOOK_INTERVAL_MIN)) => interval.saturating_mul(2).min(LOOK_INTERVAL_MAX.max(round)),
    }
}

async fn look<P: LongPoll>(
    state: &Arc<ApiState>,
    call: &Call,
    query: &mut P::Query,
) -> Result<Look, ApiError> {
    let _memory = state.work_memory.acquire_bytes(call.scope, P::LOOK_BYTES_MAX).await?;
    let start = *query;
    let look = move |reads: &mut dyn ReadTx| {
        let mut query = start;
        P::look(reads, &mut query).map(|found| (found, query))
    };
    let (found, moved) = read_blocking(state, call.scope, Consistency::Snapshot, look).await?;
    *query = moved;
    Ok(found)
}

//! The state that all requests share. Only `run_blocking` calls the store on the blocking pool; `body_parser`
//! parses large bodies there.

use std::fmt::Display;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::ports::Deadlines;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::key_locks::KeyLocks;
use crate::api::Api;
use crate::health::RequestKind;
use crate::log_throttle::LogThrottle;
use crate::operation::body_parser::BodyParser;
use crate::operation::fair_queue::FairQueue;
use crate::operation::memory_budget::{
    MemoryBudget, MemoryLimits, SMALL_BODY_BYTES_MAX, SMALL_WORK_BYTES_MAX,
};
use crate::operation::{ApiError, CommitDecision};

/// The maximum number of store calls that run or wait for a thread. Further calls fail with 503.
const STORE_CALLS_MAX: usize = 256;

/// The number of store reads that the read queue leaves free for lookups of credentials, which need no permit.
const CREDENTIAL_READS: usize = 2;

/// The memory for large bodies that are being read or wait to be processed.
const BODY_MEMORY: MemoryLimits =
    MemoryLimits { small: SMALL_BODY_BYTES_MAX, total: 24 << 20, per_provider: 12 << 20 };
/// The memory that large requests need for their work and their responses.
const WORK_MEMORY: MemoryLimits =
    MemoryLimits { small: SMALL_WORK_BYTES_MAX, total: 64 << 20, per_provider: 32 << 20 };

/// How often a waiting request checks whether the database still responds.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(250);

fn database_unavailable_error() -> ApiError {
    ApiError::unavailable("the database is not available", 2)
}

fn aborted_call_error(cause: impl Display) -> ApiError {
    ApiError::internal(format!("a database call did not finish: {cause}"))
}

/// The state that all requests share.
pub(crate) struct ApiState {
    /// The dependencies and settings of the API.
    pub(crate) api: Api,
    /// The idempotency keys in progress in this process.
    pub(crate) key_locks: Arc<KeyLocks<IdempotencyKey>>,
    /// The memory for large request bodies.
    pub(crate) body_memory: Arc<MemoryBudget>,
    /// The memory for large requests in progress and their responses. It is separate from `body_memory`, because a
    /// request holds memory for its body while it waits for memory for its work.
    pub(crate) work_memory: Arc<MemoryBudget>,
    pub(crate) body_parser: BodyParser,
    store_failure_throttle: LogThrottle<String>,
    /// Limit the requests in progress, and share them fairly between providers. The limits are those of the store, so
    /// that requests wait here, where waiting is fair, and not in the store, where it is not.
    pub(crate) read_queue: Arc<FairQueue>,
    pub(crate) write_queue: Arc<FairQueue>,
    store_calls: Arc<Semaphore>,
}

impl ApiState {
    pub(crate) fn new(api: Api) -> Arc<Self> {
        let capacity = api.store.capacity();
        Arc::new(Self {
            key_locks: Arc::default(),
            body_memory: MemoryBudget::new("body", BODY_MEMORY),
            work_memory: MemoryBudget::new("work", WORK_MEMORY),
            body_parser: BodyParser::new(),
            store_failure_throttle: LogThrottle::default(),
            read_queue: FairQueue::new("read", capacity.reads.saturating_sub(CREDENTIAL_READS).max(1)),
            write_queue: FairQueue::new("write", capacity.transactions),
            store_calls: Arc::new(Semaphore::new(STORE_CALLS_MAX)),
            api,
        })
    }

    /// Runs `work` on the blocking pool, to its end even if the client disconnects. Fails with 503 if there are too
    /// many store calls, or if the database does not respond. If `work` takes too long, fails with 503 and decides
    /// against the commit; `work` must therefore call `decide_commit` before it commits.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        kind: RequestKind,
        work: impl FnOnce(&Self, &CommitDecision) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = Arc::clone(&self.store_calls).try_acquire_owned().map_err(|_full| ApiError::busy())?;
        self.require_database(kind)?;
        let (state, decision) = (Arc::clone(self), Arc::new(CommitDecision::default()));
        let work_decision = Arc::clone(&decision);
        let arrived = Instant::now();
        let blocking_task = web::block(move || {
            let is_late = arrived.elapsed() > Deadlines::START;
            let response = if is_late { Err(ApiError::busy()) } else { work(&state, &work_decision) };
            drop(permit);
            response
        });
        // If `work` panics, unwinding releases the permit.
        let response = self.await_store(kind, blocking_task, &decision).await?.map_err(aborted_call_error)?;
        if response.is_ok() {
            self.api.database_health.record_success();
        }
        response
    }

    /// Logs the failure of the store that caused an error response, once a minute for each cause, and records it, so
    /// that a test write checks whether the database accepts writes. Does nothing if the response has another cause.
    pub(crate) fn log_store_failure(&self, error: &ApiError, request_id: &str) {
        let Some(cause) = error.store_failure() else { return };
        self.api.database_health.record_failure(cause);
        if self.store_failure_throttle.allows_line(cause.to_string(), std::time::Instant::now()) {
            log::error!(request_id, cause:%; "a request failed because of the database (logged once a minute for each cause)");
        }
    }

    /// Fails with 503 if the database hangs, so that the request does not wait for it.
    pub(super) fn require_database(&self, kind: RequestKind) -> Result<(), ApiError> {
        if self.api.database_health.is_hanging(kind) { Err(database_unavailable_error()) } else { Ok(()) }
    }

    /// Waits for the store. Fails with 503, and decides against the commit, after `Deadlines::RESPONSE`. If the commit
    /// was decided before, waits up to `Deadlines::ACKNOWLEDGEMENT` longer. Fails with 503 at once if the database
    /// hangs, even if the commit was decided: then the outcome is unknown.
    pub(super) async fn await_store<F: Future>(
        &self,
        kind: RequestKind,
        done: F,
        decision: &CommitDecision,
    ) -> Result<F::Output, ApiError> {
        let mut done = pin!(done);
        let response_deadline = Instant::now() + Deadlines::RESPONSE;
        let commit_deadline = response_deadline + Deadlines::ACKNOWLEDGEMENT;
        loop {
            match timeout(HEALTH_CHECK_INTERVAL, &mut done).await {
                Ok(done) => return Ok(done),
                Err(_) if self.api.database_health.is_hanging(kind) || Instant::now() > commit_deadline => {
                    decision.decide_timeout();
                    return Err(database_unavailable_error());
                }
                Err(_) if Instant::now() > response_deadline && decision.decide_timeout() => {
                    return Err(database_unavailable_error());
                }
                Err(_) => {}
            }
        }
    }
}

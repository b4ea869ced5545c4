//! The state that all requests share, and the only way to the blocking pool.

use std::fmt::Display;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use guerdon_domain::idempotency::Repeatable;
use guerdon_domain::journal::{Actor, Origin};
use guerdon_domain::ports::{Context, Deadlines};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::flights::Flights;
use crate::api::Api;
use crate::log_throttle::LogThrottle;
use crate::operation::budget::{Budget, SMALL_MAX, SMALL_WORK_MAX};
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::parsing::Parsing;
use crate::operation::promise::Promise;
use crate::operation::shares::Shares;

/// The most store calls that run or wait for a thread. Further ones fail with 503.
const STORE_CALLS_MAX: usize = 256;

/// The most reading requests in progress, each of which needs a thread, and the most writing requests, most of which the store queues.
const READS_MAX: usize = 24;
const WRITES_MAX: usize = 136;

/// The bytes of large bodies that are being read or wait for their turn, in total and per provider.
const BODY_BYTES: (usize, usize) = (24 << 20, 12 << 20);
/// The bytes that large requests need for their work and their responses, in total and per provider.
const WORK_BYTES: (usize, usize) = (64 << 20, 32 << 20);

/// How often a waiting request checks whether the database still responds.
const SILENCE_CHECK_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn busy() -> ApiError {
    ApiError::unavailable("the service is busy", 1)
}

fn silent() -> ApiError {
    ApiError::unavailable("the database does not answer", 2)
}

pub(super) fn broken_off(cause: impl Display) -> ApiError {
    ApiError::internal(format!("a call of the store did not end: {cause}"))
}

/// The state that all requests share.
pub(crate) struct State {
    /// The dependencies and settings of the API.
    pub(crate) api: Api,
    /// The idempotency keys in progress in this process.
    pub(crate) flights: Arc<Flights>,
    /// The memory for large request bodies.
    pub(crate) bodies: Arc<Budget>,
    /// The memory for large requests in progress and their responses. It is separate from `bodies`, because a request holds memory
    /// there while it waits for memory here.
    pub(crate) work: Arc<Budget>,
    pub(crate) parsing: Parsing,
    store_failures: LogThrottle<String>,
    /// The fair shares of providers.
    pub(crate) reads: Arc<Shares>,
    pub(crate) writes: Arc<Shares>,
    store_calls: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(api: Api) -> Arc<Self> {
        Arc::new(Self {
            flights: Arc::default(),
            bodies: Budget::new("body", SMALL_MAX, BODY_BYTES.0, BODY_BYTES.1),
            work: Budget::new("work", SMALL_WORK_MAX, WORK_BYTES.0, WORK_BYTES.1),
            parsing: Parsing::new(),
            store_failures: LogThrottle::default(),
            reads: Shares::new("read", READS_MAX),
            writes: Shares::new("write", WRITES_MAX),
            store_calls: Arc::new(Semaphore::new(STORE_CALLS_MAX)),
            api,
        })
    }

    /// The context that the use case of a call needs besides its transaction.
    pub(crate) fn context<'a>(&'a self, call: &'a Call, key: Option<&'a Repeatable>) -> Context<'a> {
        Context {
            clock: &*self.api.clock,
            ids: &*self.api.ids,
            bodies: &*self.api.bodies,
            origin: Origin {
                actor: Actor::Provider,
                reference: Some(&call.request_id),
                key: key.map(|repeatable| repeatable.key.key.as_str()),
            },
        }
    }

    /// Runs `work` on the blocking pool, to its end even if the client disconnects. If it takes too long, fails with 503 and breaks
    /// off the promise, so that work that checks the promise before its commit commits nothing.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Promise) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.permit_store_call()?;
        let (state, promise) = (Arc::clone(self), Arc::new(Promise::default()));
        let told = Arc::clone(&promise);
        let arrived = Instant::now();
        let crossing = web::block(move || {
            let is_late = arrived.elapsed() > Deadlines::REQUEST.begin;
            let answer = if is_late { Err(busy()) } else { work(&state, &told) };
            drop(permit);
            answer
        });
        // If `work` panics, unwinding releases the permit.
        let answer = self.wait_for(crossing, &promise).await?.map_err(broken_off)?;
        if answer.is_ok() {
            self.api.pulse.served();
        }
        answer
    }

    /// Logs the failure of the store that caused an error response, each cause once a minute, and records it for the next check of
    /// whether the database accepts writes.
    pub(crate) fn note_failure(&self, refusal: &ApiError, request_id: &str) {
        let Some(cause) = refusal.store_failure() else { return };
        self.api.pulse.note_failure(cause);
        if self.store_failures.allows(cause.to_string(), std::time::Instant::now()) {
            log::error!(request_id; "request {request_id} failed (logged once a minute): {cause}");
        }
    }

    /// A permit for one store call; 503 if there are too many, or if the database does not respond.
    pub(super) fn permit_store_call(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let permit = Arc::clone(&self.store_calls).try_acquire_owned().map_err(|_full| busy())?;
        self.require_database().map(|()| permit)
    }

    /// Fails with 503 if the database does not respond, so that the request need not wait for it.
    pub(super) fn require_database(&self) -> Result<(), ApiError> {
        if self.api.pulse.is_silent() { Err(silent()) } else { Ok(()) }
    }

    /// Waits for the store. If that takes too long, breaks off the promise and fails with 503.
    pub(super) async fn wait_for<F: Future>(
        &self,
        done: F,
        promise: &Promise,
    ) -> Result<F::Output, ApiError> {
        let mut done = pin!(done);
        let given_up = Instant::now() + Deadlines::REQUEST.response;
        let acknowledged = given_up + Deadlines::REQUEST.acknowledgement;
        loop {
            match timeout(SILENCE_CHECK_INTERVAL, &mut done).await {
                Ok(done) => return Ok(done),
                Err(_) if self.api.pulse.is_silent() || Instant::now() > acknowledged => {
                    promise.break_off();
                    return Err(silent());
                }
                Err(_) if Instant::now() > given_up && promise.break_off() => return Err(silent()),
                Err(_) => {}
            }
        }
    }
}

//! What all requests share, and the one crossing to the blocking pool.

use std::fmt::Display;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use guerdon_domain::causes::{Actor, Origin};
use guerdon_domain::idempotency::Repeatable;
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

/// Calls of the store that run or wait for a thread; more are answered 503 at once.
const CROSSINGS_MAX: usize = 256;

/// Places for requests that read, each on a thread, and for those that write, most of which the store takes over.
const READS: usize = 24;
const WRITES: usize = 136;

/// Bodies that are being read, or were read and wait for their turn; and how much of them one provider may have.
const BODIES: (usize, usize) = (24 << 20, 12 << 20);
/// What large requests need for their work and their answers, in the same way.
const WORK: (usize, usize) = (64 << 20, 32 << 20);

/// How often a waiting request looks whether the database has fallen silent.
const SILENCE_LOOK_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn busy() -> ApiError {
    ApiError::unavailable("the service is busy", 1)
}

fn silent() -> ApiError {
    ApiError::unavailable("the database does not answer", 2)
}

pub(super) fn broken_off(cause: impl Display) -> ApiError {
    ApiError::internal(format!("a call of the store did not end: {cause}"))
}

/// What all requests share.
pub(crate) struct State {
    /// What the API was given.
    pub(crate) api: Api,
    /// The idempotency keys at work in this process.
    pub(crate) flights: Arc<Flights>,
    /// Memory for large bodies that come in.
    pub(crate) bodies: Arc<Budget>,
    /// Memory for large requests at work and their answers. Apart from that of bodies: who has one waits for the other.
    pub(crate) work: Arc<Budget>,
    pub(crate) parsing: Parsing,
    store_failures: LogThrottle<String>,
    /// Whose request is at work.
    pub(crate) reads: Arc<Shares>,
    pub(crate) writes: Arc<Shares>,
    crossings: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(api: Api) -> Arc<Self> {
        Arc::new(Self {
            flights: Arc::default(),
            bodies: Budget::new("body", SMALL_MAX, BODIES.0, BODIES.1),
            work: Budget::new("work", SMALL_WORK_MAX, WORK.0, WORK.1),
            parsing: Parsing::new(),
            store_failures: LogThrottle::default(),
            reads: Shares::new("read", READS),
            writes: Shares::new("write", WRITES),
            crossings: Arc::new(Semaphore::new(CROSSINGS_MAX)),
            api,
        })
    }

    /// What the use case of a call is given beside its transaction.
    pub(crate) fn context<'a>(&'a self, call: &'a Call, key: Option<&'a Repeatable>) -> Context<'a> {
        Context {
            clock: &*self.api.clock,
            ids: &*self.api.ids,
            bodies: &*self.api.bodies,
            origin: Origin {
                actor: Actor::Provider,
                reference: Some(&call.request_id),
                key: key.map(|it| it.key.key.as_str()),
            },
        }
    }

    /// Runs `work` on the blocking pool, to its end even if the client goes away. Where the client is told not to wait for
    /// it, the promise is broken off, and work that asks it before its commit commits nothing.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self, &Promise) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permit = self.cross()?;
        let (state, promise) = (Arc::clone(self), Arc::new(Promise::default()));
        let told = Arc::clone(&promise);
        let arrived = Instant::now();
        let crossing = web::block(move || {
            let is_late = arrived.elapsed() > Deadlines::REQUEST.begin;
            let answer = if is_late { Err(busy()) } else { work(&state, &told) };
            drop(permit);
            answer
        });
        // Where it panics the permit is released by the unwinding.
        let answer = self.wait_for(crossing, &promise).await?.map_err(broken_off)?;
        if answer.is_ok() {
            self.api.pulse.served();
        }
        answer
    }

    /// Logs why the store caused a refusal, each cause once a minute, and notes it for the next check of whether the database
    /// takes writes.
    pub(crate) fn note_failure(&self, refusal: &ApiError, request_id: &str) {
        let Some(cause) = refusal.store_failure() else { return };
        self.api.pulse.note_failure(cause);
        if self.store_failures.allows(cause.to_string(), std::time::Instant::now()) {
            log::error!(request_id; "request {request_id} failed (logged once a minute): {cause}");
        }
    }

    /// Leave to ask the store for something.
    pub(super) fn cross(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let permit = Arc::clone(&self.crossings).try_acquire_owned().map_err(|_full| busy())?;
        self.require_database().map(|()| permit)
    }

    /// Refuses at once what would wait for a database that has fallen silent.
    pub(super) fn require_database(&self) -> Result<(), ApiError> {
        if self.api.pulse.is_silent() { Err(silent()) } else { Ok(()) }
    }

    /// Waits for what the store does. A client that is sent away before is promised that nothing comes of it.
    pub(super) async fn wait_for<F: Future>(
        &self,
        done: F,
        promise: &Promise,
    ) -> Result<F::Output, ApiError> {
        let mut done = pin!(done);
        let given_up = Instant::now() + Deadlines::REQUEST.response;
        let acknowledged = given_up + Deadlines::REQUEST.acknowledgement;
        loop {
            match timeout(SILENCE_LOOK_INTERVAL, &mut done).await {
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

//! What all requests share, and the one crossing to the blocking pool.

use std::sync::Arc;

use actix_web::web;
use guerdon_domain::ports::Context;
use tokio::sync::Semaphore;

use crate::admission::{FailedLogins, ProviderCache, ProviderLimit};
use crate::api::Api;
use crate::error::ApiError;
use crate::operation::Flights;

/// Calls of the store that run or wait for a thread; more are answered 503 at once.
const CROSSINGS_MAX: usize = 256;

/// What all requests share.
pub(crate) struct State {
    /// What the API was given.
    pub(crate) api: Api,
    /// Providers seen within the last half second.
    pub(crate) providers: ProviderCache,
    /// Who guessed wrong lately.
    pub(crate) failed_logins: FailedLogins,
    /// Each provider's token bucket; none where the limit is off.
    pub(crate) provider_limit: Option<ProviderLimit>,
    /// The idempotency keys at work in this process.
    pub(crate) flights: Arc<Flights>,
    crossings: Arc<Semaphore>,
}

impl State {
    pub(crate) fn new(api: Api) -> Arc<Self> {
        Arc::new(Self {
            providers: ProviderCache::default(),
            failed_logins: FailedLogins::new(api.limits.failed_logins_per_minute),
            provider_limit: ProviderLimit::new(api.limits),
            flights: Arc::default(),
            crossings: Arc::new(Semaphore::new(CROSSINGS_MAX)),
            api,
        })
    }

    /// What use cases are given beside their transaction.
    pub(crate) fn context(&self) -> Context<'_> {
        Context { clock: &*self.api.clock, ids: &*self.api.ids, bodies: &*self.api.bodies }
    }

    /// Runs `work` on the blocking pool, to its end even if the client goes away.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Ok(permit) = Arc::clone(&self.crossings).try_acquire_owned() else {
            return Err(ApiError::unavailable("the service is busy", 1));
        };
        let state = Arc::clone(self);
        let crossed = web::block(move || {
            let answer = work(&state);
            drop(permit);
            answer
        });
        match crossed.await {
            Ok(answer) => answer,
            // The permit is released by the unwinding.
            Err(error) => Err(ApiError::internal(format!("a call of the store did not end: {error}"))),
        }
    }
}

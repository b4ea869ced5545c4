//! Checks, in this order: maintenance, version, failed logins, credentials, rate limit of the provider.

mod authenticate;
mod basic;
mod current_secrets;
mod failed_logins;
mod proven;
mod provider_cache;
mod provider_limit;
mod version;

pub(super) use version::is_versioned;

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
use current_secrets::CurrentSecrets;
use failed_logins::FailedLogins;
use guerdon_domain::ports::Deadlines;
use guerdon_domain::values::ProviderId;
use proven::Proven;
use provider_cache::ProviderCache;
use provider_limit::ProviderLimit;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::framing::Connection;
use crate::arrival::{Arrival, Caller};
use crate::log_throttle::LogThrottle;
use crate::operation::error::ApiError;
use crate::operation::state::State;

/// The most look-ups of unproven credentials at a time.
const UNPROVEN_LOOKUPS_MAX: usize = 2;
/// The value of `Retry-After` during maintenance.
const MAINTENANCE_RETRY_SECONDS: u64 = 30;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// What admission remembers about earlier requests.
pub(super) struct Admission {
    state: Arc<State>,
    /// Providers that were read within the last half second.
    providers: ProviderCache,
    /// Failed logins of the last minute.
    failed_logins: FailedLogins,
    /// Credentials that let a provider in lately.
    proven: Proven,
    /// The secrets that are valid now, for addresses that are locked out.
    current_secrets: CurrentSecrets,
    /// Limits the look-ups of unproven credentials.
    unproven_lookups: Semaphore,
    /// Limits the log lines about addresses that are locked out.
    locked_out: LogThrottle<IpAddr>,
    /// Limits the log lines about providers over their rate limit.
    limited: LogThrottle<ProviderId>,
    /// The rate limit of the providers; `None` if it is off.
    provider_limit: Option<ProviderLimit>,
}

impl Admission {
    pub(super) fn new(state: Arc<State>) -> Self {
        let limits = state.api.limits;
        Self {
            providers: ProviderCache::default(),
            failed_logins: FailedLogins::new(limits.failed_logins_per_minute),
            proven: Proven::default(),
            current_secrets: CurrentSecrets::default(),
            unproven_lookups: Semaphore::new(UNPROVEN_LOOKUPS_MAX),
            locked_out: LogThrottle::default(),
            limited: LogThrottle::default(),
            provider_limit: ProviderLimit::new(limits),
            state,
        }
    }

    /// Waits until unproven credentials may be looked up; 503 after the time limit for credentials.
    async fn acquire_unproven_lookup(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        let turn = timeout(Deadlines::REQUEST.credentials, self.unproven_lookups.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| ApiError::unavailable("the service is busy", 1))
    }
}

/// Passes a request on with its [`Caller`], or responds with an error.
pub(super) async fn admit(
    admission: Data<Admission>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let caller = match identify(&admission, &request).await {
        Ok(caller) => caller,
        Err(refusal) => {
            admission.state.note_failure(&refusal, &Arrival::of(request.request()).id);
            return Ok(refuse(request, &refusal));
        }
    };
    if let Some(connection) = request.conn_data::<Rc<Connection>>() {
        connection.trust(); // before the body is read
    }
    let Some(limit) = &admission.provider_limit else {
        request.extensions_mut().insert(caller);
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    let (allowance, admitted) = limit.take(caller.id);
    let mut response = match admitted {
        Ok(()) => {
            request.extensions_mut().insert(caller);
            next.call(request).await?.map_into_boxed_body()
        }
        Err(wait_seconds) => {
            if admission.limited.allows(caller.id, Instant::now()) {
                log::warn!(
                    "provider {} sends more requests than its limit: the others are answered 429",
                    caller.id
                );
            }
            refuse(request, &ApiError::too_many_requests(wait_seconds))
        }
    };
    for (name, value) in [(RATE_LIMIT, allowance), (RATE_LIMIT_POLICY, limit.policy().to_owned())] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

async fn identify(admission: &Admission, request: &ServiceRequest) -> Result<Caller, ApiError> {
    let api = &admission.state.api;
    if api.gate.maintenance() {
        return Err(ApiError::unavailable("the service is under maintenance", MAINTENANCE_RETRY_SECONDS));
    }
    version::check(request.path(), &api.retired_versions)?;
    authenticate::caller(admission, request).await
}

fn refuse(request: ServiceRequest, refusal: &ApiError) -> ServiceResponse<BoxBody> {
    let response = refusal.respond(&Arrival::of(request.request()).id);
    request.into_response(response)
}

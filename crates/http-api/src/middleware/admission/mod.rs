//! Decides whether a request is admitted. The checks, in order: maintenance, version, failed logins, credentials, rate
//! limit of the provider.

mod authenticate;
pub(super) mod basic_auth;
mod current_secrets;
mod failed_logins;
mod lookup_failures;
mod provider_cache;
mod provider_limit;
mod recent_credentials;
mod version;

pub(super) use version::has_current_version;

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
use lookup_failures::LookupFailures;
use provider_cache::ProviderCache;
use provider_limit::ProviderLimit;
use recent_credentials::RecentCredentials;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::framing::Connection;
use crate::log_throttle::LogThrottle;
use crate::operation::{ApiError, ApiState, KeyLocks};
use crate::request_info::{Caller, RequestInfo};

/// The maximum number of concurrent lookups of unverified credentials.
const UNVERIFIED_LOOKUPS_MAX: usize = 2;
/// The value of `Retry-After` during maintenance.
const MAINTENANCE_RETRY_SECONDS: u64 = 30;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// What admission remembers about earlier requests.
pub(super) struct Admission {
    state: Arc<ApiState>,
    /// Providers that were read within the last half second.
    providers: ProviderCache,
    /// Failed logins of the last minute.
    failed_logins: FailedLogins,
    /// Credentials that were valid within the last five minutes.
    recent_credentials: RecentCredentials,
    /// The secrets that are valid now, for addresses that are locked out.
    current_secrets: CurrentSecrets,
    /// Limits the lookups of unverified credentials.
    unverified_lookups: Semaphore,
    /// The API keys whose recent credentials are being looked up.
    recent_lookups: Arc<KeyLocks<String>>,
    /// When the database last failed a lookup.
    lookup_failures: LookupFailures,
    /// Limits the log lines about addresses that are locked out.
    lockout_log: LogThrottle<IpAddr>,
    /// Limits the log lines about providers over their rate limit.
    rate_limit_log: LogThrottle<ProviderId>,
    /// The rate limit of the providers; `None` if it is off.
    provider_limit: Option<ProviderLimit>,
}

impl Admission {
    pub(super) fn new(state: Arc<ApiState>) -> Self {
        let limits = state.api.rate_limits;
        Self {
            providers: ProviderCache::default(),
            failed_logins: FailedLogins::new(limits.failed_logins_per_minute),
            recent_credentials: RecentCredentials::default(),
            current_secrets: CurrentSecrets::default(),
            unverified_lookups: Semaphore::new(UNVERIFIED_LOOKUPS_MAX),
            recent_lookups: Arc::default(),
            lookup_failures: LookupFailures::default(),
            lockout_log: LogThrottle::default(),
            rate_limit_log: LogThrottle::default(),
            provider_limit: ProviderLimit::new(limits),
            state,
        }
    }

    /// Waits until unverified credentials may be looked up. Fails with 503 after the deadline for credentials.
    async fn acquire_unverified_lookup(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        let permit = timeout(Deadlines::CREDENTIALS, self.unverified_lookups.acquire()).await;
        permit.ok().and_then(Result::ok).ok_or_else(ApiError::busy)
    }
}

/// Passes a request on with its [`Caller`], or responds with an error.
pub(super) async fn admit_request(
    admission: Data<Admission>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let caller = match identify_caller(&admission, &request).await {
        Ok(caller) => caller,
        Err(error) => {
            admission.state.log_store_failure(&error, &RequestInfo::from_request(request.request()).id);
            return Ok(refuse_request(request, &error));
        }
    };
    if let Some(connection) = request.conn_data::<Rc<Connection>>() {
        connection.mark_trusted(); // before the body is read
    }
    let provider = caller.id;
    request.extensions_mut().insert(caller);
    let Some(limit) = &admission.provider_limit else {
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    let (header, result) = limit.take_request(provider);
    let mut response = match result {
        Ok(()) => next.call(request).await?.map_into_boxed_body(),
        Err(wait_seconds) => {
            if admission.rate_limit_log.allows_line(provider, Instant::now()) {
                log::warn!(provider_id:% = provider; "a provider exceeds its rate limit: refusing requests with 429");
            }
            refuse_request(request, &ApiError::too_many_requests(wait_seconds))
        }
    };
    for (name, value) in [(RATE_LIMIT, header), (RATE_LIMIT_POLICY, limit.policy.clone())] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

async fn identify_caller(admission: &Admission, request: &ServiceRequest) -> Result<Caller, ApiError> {
    let api = &admission.state.api;
    if api.service_state.is_in_maintenance() {
        return Err(ApiError::under_maintenance(MAINTENANCE_RETRY_SECONDS));
    }
    version::check_version(request.path(), &api.retired_versions)?;
    authenticate::authenticate_caller(admission, request).await
}

fn refuse_request(request: ServiceRequest, error: &ApiError) -> ServiceResponse<BoxBody> {
    let response = error.log_and_respond(&RequestInfo::from_request(request.request()).id);
    request.into_response(response)
}

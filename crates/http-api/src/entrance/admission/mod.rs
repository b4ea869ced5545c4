//! Who gets in: maintenance, version, failed credentials, credentials, the provider's limit, in this order.

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

/// So many look-ups of unknown credentials are under way at a time.
const STRANGERS_AT_ONCE: usize = 2;
/// When to come back during maintenance.
const MAINTENANCE_SECONDS: u64 = 30;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// What admission remembers of those who asked before.
pub(super) struct Admission {
    state: Arc<State>,
    /// Providers seen within the last half second.
    providers: ProviderCache,
    /// Who guessed wrong lately.
    failed_logins: FailedLogins,
    /// Who was right lately.
    proven: Proven,
    /// Who is right now, for addresses that are locked out.
    current_secrets: CurrentSecrets,
    /// For look-ups of credentials that were not right lately.
    strangers: Semaphore,
    /// Networks whose credentials are not looked at, and providers over their limit: each is told once.
    locked_out: LogThrottle<IpAddr>,
    limited: LogThrottle<ProviderId>,
    /// Each provider's token bucket; none where the limit is off.
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
            strangers: Semaphore::new(STRANGERS_AT_ONCE),
            locked_out: LogThrottle::default(),
            limited: LogThrottle::default(),
            provider_limit: ProviderLimit::new(limits),
            state,
        }
    }

    /// Waits until a stranger's credentials may be looked up.
    async fn strangers_turn(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        let turn = timeout(Deadlines::REQUEST.credentials, self.strangers.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| ApiError::unavailable("the service is busy", 1))
    }
}

/// Lets a request in with its [`Caller`], or answers for it.
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
        return Err(ApiError::unavailable("the service is under maintenance", MAINTENANCE_SECONDS));
    }
    version::check(request.path(), &api.retired_versions)?;
    authenticate::caller(admission, request).await
}

fn refuse(request: ServiceRequest, refusal: &ApiError) -> ServiceResponse<BoxBody> {
    let response = refusal.respond(&Arrival::of(request.request()).id);
    request.into_response(response)
}

//! Who gets in: maintenance, version, failed credentials, credentials, the provider's limit, in this order.

mod authenticate;
mod basic;
mod client;
mod failed_logins;
mod provider_cache;
mod provider_limit;
mod version;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage};
pub(crate) use client::is_https;
pub(crate) use failed_logins::FailedLogins;
pub(crate) use provider_cache::ProviderCache;
pub(crate) use provider_limit::ProviderLimit;

use crate::call::Caller;
use crate::envelope::request_id_of;
use crate::error::ApiError;
use crate::state::State;

/// When to come back during maintenance.
const MAINTENANCE_SECONDS: u64 = 30;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Lets a request in with its [`Caller`], or answers for it.
pub(crate) async fn admit(
    state: Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let state = state.into_inner();
    let caller = match identify(&state, &request).await {
        Ok(caller) => caller,
        Err(refusal) => return Ok(refuse(request, &refusal)),
    };
    let Some(limit) = &state.provider_limit else {
        request.extensions_mut().insert(caller);
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    let (allowance, admitted) = limit.take(caller.id);
    let mut response = match admitted {
        Ok(()) => {
            request.extensions_mut().insert(caller);
            next.call(request).await?.map_into_boxed_body()
        }
        Err(wait_seconds) => refuse(request, &ApiError::too_many_requests(wait_seconds)),
    };
    for (name, value) in [(RATE_LIMIT, allowance), (RATE_LIMIT_POLICY, limit.policy().to_owned())] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

async fn identify(state: &std::sync::Arc<State>, request: &ServiceRequest) -> Result<Caller, ApiError> {
    if state.api.gate.maintenance() {
        return Err(ApiError::unavailable("the service is under maintenance", MAINTENANCE_SECONDS));
    }
    version::check(request.path(), &state.api.retired_versions)?;
    authenticate::caller(state, request).await
}

fn refuse(request: ServiceRequest, refusal: &ApiError) -> ServiceResponse<BoxBody> {
    let response = refusal.respond(&request_id_of(&request));
    request.into_response(response)
}

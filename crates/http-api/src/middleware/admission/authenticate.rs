//! Finds the caller by the credentials of a request (behaviour 9.1, 9.2).

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

use actix_web::dev::ServiceRequest;
use actix_web::http::header::AUTHORIZATION;
use guerdon_domain::ports::{Deadlines, StoreExt};
use guerdon_domain::providers::Provider;

use super::Admission;
use super::basic_auth::{self, Credentials};
use super::current_secrets::{NO_HASH, current_hashes};
use crate::health::RequestKind;
use crate::operation::ApiError;
use crate::request_info::{Caller, RepeatedHeader, RequestInfo, limit_address, single_header};

/// The caller of a request. Invalid credentials are refused with 401 whatever the cause, or with 429 if too many logins
/// failed before.
pub(super) async fn authenticate_caller(
    admission: &Admission,
    request: &ServiceRequest,
) -> Result<Caller, ApiError> {
    let credentials = match single_header(request.headers(), AUTHORIZATION.as_str()) {
        Ok(None) => return Err(ApiError::unauthorized()),
        Ok(Some(header)) => basic_auth::parse_basic(header),
        Err(RepeatedHeader) => None,
    };
    let RequestInfo { id, address, .. } = RequestInfo::from_request(request.request());
    let address = address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let key = credentials.as_ref().map_or("", |credentials| credentials.key.as_str());
    let now = Instant::now();
    let mut is_known = false;
    if let Some(wait_seconds) = admission.failed_logins.seconds_to_wait(address, key, now) {
        is_known = match &credentials {
            Some(credentials) => {
                admission.recent_credentials.contains(credentials)
                    || are_current(admission, credentials).await?
            }
            None => false,
        };
        if !is_known {
            return Err(lockout_error(admission, address, key, wait_seconds));
        }
    }
    let caller = match &credentials {
        Some(credentials) => verify_credentials(admission, credentials, is_known).await?,
        None => None,
    };
    if let Some(caller) = caller {
        return Ok(caller);
    }
    log::info!(
        request_id:% = id, address:% = address, api_key = loggable_key(key);
        "credentials were refused"
    );
    match admission.failed_logins.record_failure(address, key, Instant::now()) {
        Some(wait_seconds) => Err(ApiError::too_many_failed_logins(wait_seconds)),
        None => Err(ApiError::unauthorized()),
    }
}

/// Whether credentials from an address that is locked out are valid now.
async fn are_current(admission: &Admission, credentials: &Credentials) -> Result<bool, ApiError> {
    let state = &admission.state;
    let read = async || {
        let providers = state
            .run_blocking(RequestKind::Read, |state, _| {
                Ok(state.api.store.read_snapshot(|reads| reads.list_providers())?)
            })
            .await?;
        Ok(current_hashes(&providers, state.api.context_sources.clock.now()))
    };
    admission.current_secrets.are_valid_now(credentials, &*state.api.secret_verifier, read).await
}

/// The error 429 for an address that is locked out. Logs the lockout once a minute per address.
fn lockout_error(admission: &Admission, address: IpAddr, key: &str, wait_seconds: u64) -> ApiError {
    if admission.lockout_log.allows_line(limit_address(address), Instant::now()) {
        log::warn!(
            address:%, api_key = loggable_key(key), wait_seconds;
            "too many failed logins: for wait_seconds, only valid credentials are accepted from this address"
        );
    }
    ApiError::too_many_failed_logins(wait_seconds)
}

/// Returns the API key if it may be logged. A string that does not look like an API key may be a secret in the wrong
/// place.
fn loggable_key(key: &str) -> &str {
    let is_ours = key.len() <= 64
        && key.strip_prefix("gk_").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_ours { key } else { "not a valid key" }
}

/// The caller with these credentials, unless its provider is suspended. A cached provider is used only if it accepts
/// the secret, so that a new secret and the end of a suspension take effect at once.
///
/// Unverified credentials, which are neither recent nor known to be valid, are looked up two at a time. They do not
/// delay the lookups of other credentials. Concurrent requests with the same recent credentials share one lookup. A
/// failure of the database during the wait fails the request.
async fn verify_credentials(
    admission: &Admission,
    credentials: &Credentials,
    is_known: bool,
) -> Result<Option<Caller>, ApiError> {
    let state = &admission.state;
    let now_utc = state.api.context_sources.clock.now();
    let find_caller = |provider: &Provider, read_at: Instant| {
        let mut hashes = provider.api_secret_hashes(now_utc);
        let hash = hashes.find(|hash| state.api.secret_verifier.verify_secret(&credentials.secret, hash))?;
        Some(Caller::new(provider, hash, read_at))
    };
    let find_cached_caller = || {
        let (read_at, provider) = admission.providers.get(&credentials.key, Instant::now())?;
        find_caller(&provider, read_at)
    };
    if let Some(caller) = find_cached_caller() {
        return Ok(Some(caller));
    }
    let is_unverified = !is_known && !admission.recent_credentials.contains(credentials);
    let arrived_at = tokio::time::Instant::now();
    let (_permit, _lock);
    if is_unverified {
        _permit = admission.acquire_unverified_lookup().await?;
    } else {
        let deadline = arrived_at + Deadlines::CREDENTIALS;
        let lock = admission.recent_lookups.acquire_lock(&credentials.key, deadline).await;
        _lock = lock.ok_or_else(ApiError::busy)?;
        if let Some(caller) = find_cached_caller() {
            return Ok(Some(caller));
        }
    }
    admission.lookup_failures.require_none_since(arrived_at)?;
    let now = Instant::now();
    let key = credentials.key.clone();
    let found = state
        .run_blocking(RequestKind::Read, move |state, _| {
            Ok(state.api.store.read_snapshot(|reads| reads.find_provider_by_api_key(&key))?)
        })
        .await
        .inspect_err(|error| admission.lookup_failures.record_error(error))?;
    let caller = match &found {
        Some(provider) => find_caller(provider, now),
        None => {
            let _is_match = state.api.secret_verifier.verify_secret(&credentials.secret, &NO_HASH);
            None
        }
    };
    let (Some(provider), Some(caller)) = (found.filter(|provider| !provider.suspended), caller) else {
        admission.recent_credentials.remove(credentials);
        return Ok(None);
    };
    admission.recent_credentials.insert(credentials);
    admission.providers.insert(Arc::new(provider), now);
    Ok(Some(caller))
}

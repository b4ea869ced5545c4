//! Writes one log line per request, counts its response, and records the request if it failed. The log line, the
//! metrics and the record contain the pattern of the route instead of the path, because a path may contain personal
//! data.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};
use guerdon_domain::ports::FailedRequest;
use guerdon_domain::values::ProviderId;

use super::health;
use crate::api::Api;
use crate::operation::{ErrorCode, ErrorDetails};

const OTHER_METHOD: &str = "other";

/// A request whose response is ready.
pub(super) struct HandledRequest<'a> {
    pub(super) id: &'a str,
    /// The provider; `None` if the request had no valid credentials.
    pub(super) provider: Option<ProviderId>,
    pub(super) method: &'static str,
    /// The pattern of the request's route.
    pub(super) pattern: Option<String>,
    pub(super) status: StatusCode,
    pub(super) failure: Option<Failure>,
    pub(super) duration: Duration,
}

/// Why a request failed.
pub(super) struct Failure {
    /// Without personal data.
    reason: String,
    /// The cause of an internal error, which is logged but not stored.
    internal_cause: Option<String>,
    /// Whether the store failed.
    is_store_failure: bool,
    /// Whether maintenance was the reason, which is no fault of the service.
    is_planned: bool,
}

/// Why a request failed; `None` if it succeeded, or is a health check.
pub(super) fn find_failure(response: &HttpResponse, path: &str) -> Option<Failure> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() || health::is_health_path(path) {
        return None;
    }
    let details = response.extensions();
    let details = details.get::<ErrorDetails>();
    let reason = details.map(ErrorDetails::failure_reason);
    let reason = reason.unwrap_or_else(|| status.canonical_reason().unwrap_or_default().to_owned());
    let internal_cause = details.and_then(|details| details.internal_cause.clone());
    let is_store_failure = details.is_some_and(|details| details.failure_kind.is_some());
    let is_planned = details.is_some_and(|details| details.code == ErrorCode::Maintenance);
    Some(Failure { reason, internal_cause, is_store_failure, is_planned })
}

impl HandledRequest<'_> {
    /// Writes the log line, counts the response, and records the request if it failed.
    pub(super) fn log_and_record(self, api: &Api) {
        let (status, level) = (self.status.as_u16(), api.request_log_level);
        let is_planned = self.failure.as_ref().is_some_and(|failure| failure.is_planned);
        api.request_statistics.record_response(status, is_planned, self.duration);
        let duration_ms = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX);
        let shown_route = || self.pattern.as_deref().map(|pattern| pattern.replace("{id}", ":id"));
        match &self.failure {
            None if log::log_enabled!(level) => {
                let (provider_id, route) = (self.provider_text(), shown_route());
                let (provider_id, route) = (provider_id.as_str(), route.as_deref().unwrap_or("-"));
                log::log!(
                    level,
                    request_id = self.id, provider_id, method = self.method, route, status, duration_ms;
                    "handled a request"
                );
            }
            None => {}
            Some(failure) => {
                let route = shown_route();
                self.log_failure(api, failure, route.as_deref().unwrap_or("-"), duration_ms);
                api.failed_requests.add_request(FailedRequest {
                    id: api.context_sources.ids.next_id(),
                    request_id: self.id.to_owned(),
                    at: api.context_sources.clock.now(),
                    provider_id: self.provider,
                    method: Cow::Borrowed(self.method),
                    route,
                    status,
                    duration_ms,
                    reason: failure.reason.clone(),
                });
            }
        }
        let labels = [
            ("method", Cow::Borrowed(self.method)),
            ("route", self.pattern.map_or(Cow::Borrowed("none"), Cow::Owned)),
            ("status", Cow::Owned(status.to_string())),
        ];
        metrics::histogram!("guerdon_http_request_duration_seconds", &labels).record(self.duration);
    }

    fn provider_text(&self) -> String {
        self.provider.map_or_else(|| "-".to_owned(), |id| id.to_string())
    }

    /// Logs a failed request. An internal error is always logged, with its cause. Any other 5xx is logged as a warning,
    /// once a minute for each status and reason. Other failures, and suppressed warnings, are logged at the level of
    /// the request log. `log_store_failure` logs failures of the store with their causes.
    fn log_failure(&self, api: &Api, failure: &Failure, route: &str, duration_ms: u64) {
        let (status, reason) = (self.status.as_u16(), failure.reason.as_str());
        let level = api.request_log_level;
        let (is_warning, requests) = if self.status.is_server_error() && !failure.is_store_failure {
            let subject = (status, reason.to_owned());
            let requests = api.failed_requests.log_throttle.count_event(subject, Instant::now());
            (requests.is_some(), requests.unwrap_or_default())
        } else {
            (false, 0)
        };
        if !is_warning && failure.internal_cause.is_none() && !log::log_enabled!(level) {
            return;
        }
        let (request_id, provider_id, method) = (self.id, &*self.provider_text(), self.method);
        if let Some(cause) = &failure.internal_cause {
            log::error!(
                request_id, provider_id, method, route, status, duration_ms, reason, cause:%;
                "a request failed"
            );
        } else if is_warning {
            log::warn!(
                request_id, provider_id, method, route, status, duration_ms, reason, requests;
                "a request failed (logged once a minute for each reason)"
            );
        } else {
            log::log!(
                level,
                request_id, provider_id, method, route, status, duration_ms, reason;
                "a request failed"
            );
        }
    }
}

/// The name of a standard method. All other methods share one name, so that clients cannot create new metric labels.
pub(super) fn method_name(method: &Method) -> &'static str {
    let names = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    names.into_iter().find(|name| *name == method.as_str()).unwrap_or(OTHER_METHOD)
}

/// The name of the method that a malformed request head begins with.
pub(super) fn method_of_head(head: &[u8]) -> &'static str {
    let word = head.split(|byte| *byte == b' ').next().unwrap_or_default();
    Method::from_bytes(word).map_or(OTHER_METHOD, |method| method_name(&method))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::ApiError;

    #[test]
    fn the_method_of_a_malformed_head_is_named_if_it_is_known() {
        let check = |head: &[u8], expected: &str| assert_eq!(method_of_head(head), expected);
        check(b"POST / HTTP/1.1\nHost: a", "POST");
        check(b"BREW /pot HTTP/1.1", "other");
        check(b"\x16\x03\x01", "other");
        check(b"", "other");
    }

    #[test]
    fn only_maintenance_is_planned() {
        let is_planned =
            |error: ApiError| find_failure(&error.log_and_respond("r"), "/v1/users").unwrap().is_planned;
        assert!(is_planned(ApiError::under_maintenance(1)));
        assert!(!is_planned(ApiError::busy()));
    }

    #[test]
    fn a_failed_response_has_a_reason_unless_it_is_a_health_check() {
        let check = |response: &HttpResponse, path: &str, expected: Option<&str>| {
            let failure = find_failure(response, path);
            assert_eq!(failure.map(|failure| failure.reason).as_deref(), expected, "{path}");
        };
        check(&HttpResponse::Ok().finish(), "/v1/users", None);
        check(&HttpResponse::SeeOther().finish(), "/", None);
        check(&ApiError::busy().log_and_respond("r"), "/v1/users", Some("the service is busy"));
        check(&HttpResponse::NotFound().finish(), "/other", Some("Not Found"));
        check(&HttpResponse::ServiceUnavailable().finish(), "/health", None);
    }
}

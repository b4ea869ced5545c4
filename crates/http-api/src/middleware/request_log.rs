//! Writes one log line per request, counts its response, and records it if it failed. All of them contain the pattern of
//! the route instead of the path, because a path may contain personal data.

use std::borrow::Cow;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::{Method, StatusCode};
use guerdon_domain::ports::FailedRequest;
use guerdon_domain::values::ProviderId;

use super::health;
use crate::api::Api;
use crate::operation::error::ErrorDetails;

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
    /// Why the request failed; see [`failure_reason`].
    pub(super) failure: Option<String>,
    pub(super) duration: Duration,
}

/// Why a request failed; `None` if it succeeded, or is a health check.
pub(super) fn failure_reason(response: &HttpResponse, path: &str) -> Option<String> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() || health::is_health_path(path) {
        return None;
    }
    let details = response.extensions();
    let reason = details.get::<ErrorDetails>().map(ErrorDetails::failure_reason);
    Some(reason.unwrap_or_else(|| status.canonical_reason().unwrap_or_default().to_owned()))
}

impl HandledRequest<'_> {
    /// Writes the log line, counts the response, and records the request if it failed.
    pub(super) fn log_and_record(self, api: &Api) {
        let Self { id, provider, method, pattern, status, failure, duration } = self;
        let status = status.as_u16();
        api.request_statistics.record_response(status, duration);
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let level = api.request_log_level;
        let is_logged = log::log_enabled!(level);
        let shown_pattern = pattern.as_deref().filter(|_| is_logged || failure.is_some());
        let route = shown_pattern.map(|pattern| pattern.replace("{id}", ":id"));
        if is_logged {
            let provider_id = &*provider.map_or_else(|| "-".to_owned(), |id| id.to_string());
            let route = route.as_deref().unwrap_or("-");
            match failure.as_deref() {
                None => log::log!(
                    level,
                    request_id = id, provider_id, method, route, status, duration_ms;
                    "handled a request"
                ),
                Some(reason) => log::log!(
                    level,
                    request_id = id, provider_id, method, route, status, duration_ms, reason;
                    "a request failed"
                ),
            }
        }
        if let Some(reason) = failure {
            api.failed_requests.add_request(FailedRequest {
                id: api.ids.next_id(),
                request_id: id.to_owned(),
                at: api.clock.now(),
                provider_id: provider,
                method: Cow::Borrowed(method),
                route,
                status,
                duration_ms,
                reason,
            });
        }
        let labels = [
            ("method", Cow::Borrowed(method)),
            ("route", pattern.map_or(Cow::Borrowed("none"), Cow::Owned)),
            ("status", Cow::Owned(status.to_string())),
        ];
        metrics::histogram!("guerdon_http_request_duration_seconds", &labels).record(duration);
    }
}

/// The name of a standard method. All other methods share one name, so that clients cannot create new metric labels.
pub(super) fn method_name(method: &Method) -> &'static str {
    let all = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::DELETE,
        Method::PATCH,
        Method::OPTIONS,
    ];
    let names = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    all.iter().zip(names).find(|(known, _)| *known == method).map_or(OTHER_METHOD, |(_, name)| name)
}

/// The name of the method that a malformed request head begins with.
pub(super) fn method_of_head(head: &[u8]) -> &'static str {
    let word = head.split(|byte| *byte == b' ').next().unwrap_or_default();
    Method::from_bytes(word).map_or(OTHER_METHOD, |method| method_name(&method))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::error::ApiError;

    #[test]
    fn the_method_of_a_malformed_head_is_named_if_it_is_known() {
        let check = |head: &[u8], expected: &str| assert_eq!(method_of_head(head), expected);
        check(b"POST / HTTP/1.1\nHost: a", "POST");
        check(b"BREW /pot HTTP/1.1", "other");
        check(b"\x16\x03\x01", "other");
        check(b"", "other");
    }

    #[test]
    fn a_failed_response_has_a_reason_unless_it_is_a_health_check() {
        let check = |response: &HttpResponse, path: &str, expected: Option<&str>| {
            assert_eq!(failure_reason(response, path).as_deref(), expected, "{path}");
        };
        check(&HttpResponse::Ok().finish(), "/v1/users", None);
        check(&HttpResponse::SeeOther().finish(), "/", None);
        check(&ApiError::busy().log_and_respond("r"), "/v1/users", Some("the service is busy"));
        check(&HttpResponse::NotFound().finish(), "/other", Some("Not Found"));
        check(&HttpResponse::ServiceUnavailable().finish(), "/health", None);
    }
}

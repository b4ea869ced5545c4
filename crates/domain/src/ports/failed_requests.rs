//! Failed requests, recorded so that the operator can find one by its id. A record contains the pattern of the route
//! and a reason, but no client input: nothing from the path, the query or the body.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::values::ProviderId;

/// The maximum number of records per provider, separately for 4xx and for 5xx statuses. Requests without valid
/// credentials are counted together, as if they came from one provider.
pub const FAILED_REQUESTS_PER_PROVIDER_MAX: usize = 1_000;
/// The maximum number of records in total, separately for 4xx and for 5xx statuses.
pub const FAILED_REQUESTS_MAX: usize = 10_000;

/// A request whose response had a status of 4xx or 5xx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// The id of the record; increases with time.
    pub id: Uuid,
    /// The value of `X-Request-Id`. Clients may choose it, so it may not be unique.
    pub request_id: String,
    /// The time of the response.
    pub at: Timestamp,
    /// `None` if the request had no valid credentials.
    pub provider_id: Option<ProviderId>,
    pub method: Cow<'static, str>,
    /// The pattern of the route, such as `/v1/users/:id`; `None` if the path has no route.
    pub route: Option<String>,
    /// From 400 to 599.
    pub status: u16,
    pub duration_ms: u64,
    pub reason: String,
}

impl FailedRequest {
    /// Whether the status is 5xx.
    pub const fn is_server_error(&self) -> bool {
        self.status >= 500
    }
}

/// A query of the records. All conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedRequestQuery {
    pub request_id: Option<String>,
    pub provider: Option<ProviderId>,
    pub statuses: Option<RangeInclusive<u16>>,
    /// Only records at this time or later.
    pub since: Option<Timestamp>,
    /// Only records older than the record with this id.
    pub before: Option<Uuid>,
    /// Only records newer than the record with this id. If there are more than `limit`, the oldest of them are
    /// returned.
    pub after: Option<Uuid>,
    /// The maximum number of records.
    pub limit: i64,
}

impl FailedRequestQuery {
    /// Parses a status from 400 to 599, or the class `4xx` or `5xx`.
    pub fn parse_statuses(text: &str) -> Option<RangeInclusive<u16>> {
        match text {
            "4xx" => Some(400..=499),
            "5xx" => Some(500..=599),
            _ if text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok().filter(|status| (400..=599).contains(status)).map(|status| status..=status)
            }
            _ => None,
        }
    }
}

pub trait ReadFailedRequests {
    /// The records, newest first.
    fn list_failed_requests(&mut self, query: &FailedRequestQuery) -> Result<Vec<FailedRequest>, StoreError>;
}

pub trait FailedRequests {
    /// Stores records, and deletes the oldest ones beyond [`FAILED_REQUESTS_PER_PROVIDER_MAX`] and
    /// [`FAILED_REQUESTS_MAX`]. A record that is already stored is skipped.
    fn record_failed_requests(&mut self, requests: &[FailedRequest]) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::FailedRequestQuery;

    #[test]
    fn a_status_or_a_class_of_failures_is_parsed() {
        let check = |text, expected| assert_eq!(FailedRequestQuery::parse_statuses(text), expected, "{text}");
        check("4xx", Some(400..=499));
        check("5xx", Some(500..=599));
        check("404", Some(404..=404));
        for other in ["", "200", "399", "600", "0404", "+404", "3xx", "xx"] {
            check(other, None);
        }
    }
}

//! Failed requests.

use time::OffsetDateTime;

use super::{LogPage, ObjectReference};

/// A section of the failed requests, newest first.
#[derive(Debug, Clone)]
pub struct FailedRequests {
    pub list: LogPage<FailedRequest>,
    /// Providers that can be selected.
    pub providers: Vec<ObjectReference>,
}

/// A request whose response had a status of 4xx or 5xx.
#[derive(Debug, Clone)]
pub struct FailedRequest {
    /// The value of `X-Request-Id`.
    pub request_id: String,
    pub at: OffsetDateTime,
    /// `None` if the request had no valid credentials.
    pub provider: Option<ObjectReference>,
    pub method: String,
    /// The pattern of the route, such as `/v1/users/:id`; `None` if the path has no route.
    pub route: Option<String>,
    pub status: u16,
    pub duration_ms: u64,
    pub reason: String,
}

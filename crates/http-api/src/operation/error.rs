//! The errors of the API, which all have the same form (behaviour 5).

use std::borrow::Cow;
use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use actix_web::{HttpResponse, ResponseError};
use guerdon_api_types::body::InvalidBody;
use guerdon_domain::ports::{Denied, Lookup, StoreError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

const CHALLENGE: &str = r#"Basic realm="guerdon", charset="UTF-8""#;

/// An error response: the part for the client, and the cause for the log.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    message: Cow<'static, str>,
    header: Option<Header>,
    closes: bool,
    cause: Option<Cause>,
}

/// The header that an error needs, if any.
#[derive(Debug, Clone)]
enum Header {
    Challenge,
    Allow(String),
    RetryAfterSeconds(u64),
}

/// Why the service failed; for the log, never for a client.
#[derive(Debug, Clone)]
enum Cause {
    /// The store is unavailable, or the outcome is unknown.
    Store(StoreError),
    Internal(String),
}

/// Attached to an error response: its text, from which the response can be rendered in another form.
pub(crate) struct Refused(pub(crate) Cow<'static, str>);

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ErrorBody<'a> {
    /// Why the request was refused.
    error: Body<'a>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Refusal")]
struct Body<'a> {
    /// The HTTP status. Example: `404`
    #[schemars(schema_with = "status_schema")]
    status: u16,
    /// The reason as text: a 400 names each invalid field and its rule. Example: `"company not found"`
    message: &'a str,
}

/// The statuses of all errors.
pub(crate) fn status_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "enum": [400, 401, 403, 404, 410, 429, 500, 503, 405]})
}

impl ApiError {
    fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into(), header: None, closes: false, cause: None }
    }

    /// 400; the message names the field and its rule (behaviour 5.3).
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 401, with the same message for every cause (behaviour 9.2).
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "the API credentials are missing or invalid")
            .with(Header::Challenge)
    }

    /// 403.
    pub(crate) fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// 404.
    pub(crate) fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// 404 or 403 for the object in the path.
    pub(crate) fn path_denied(denied: Denied, noun: &'static str) -> Self {
        match denied {
            Denied::Absent(_) => Self::not_found(format!("{noun} not found")),
            Denied::Foreign(_) => Self::forbidden(format!("the {noun} belongs to another provider")),
        }
    }

    /// 405, with the methods that the path supports.
    pub(crate) fn method_not_allowed(allowed: &str) -> Self {
        let told = format!("the path does not know this method; it knows {allowed}");
        let refusal = Self::new(StatusCode::METHOD_NOT_ALLOWED, told);
        refusal.with(Header::Allow(allowed.to_owned()))
    }

    /// 410, for a retired version.
    pub(crate) fn gone() -> Self {
        Self::new(StatusCode::GONE, "this version of the API is no longer supported")
    }

    /// 429 for a provider over its rate limit, with the seconds to wait, at least one.
    pub(crate) fn too_many_requests(wait_seconds: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too many requests: the provider's limit is reached")
            .with(Header::RetryAfterSeconds(wait_seconds.max(1)))
    }

    /// 429 for too many failed logins, with the seconds to wait, at least one.
    pub(crate) fn too_many_failures(wait_seconds: u64) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too many requests with invalid credentials")
            .with(Header::RetryAfterSeconds(wait_seconds.max(1)))
    }

    /// 503, with the seconds to wait.
    pub(crate) fn unavailable(message: &'static str, wait_seconds: u64) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message).with(Header::RetryAfterSeconds(wait_seconds))
    }

    /// 500; the cause is logged with the id of the request.
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let mut refusal = Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal server error");
        refusal.cause = Some(Cause::Internal(cause.into()));
        refusal
    }

    /// Closes the connection after the response, so that the rest of the request is not read.
    pub(crate) fn and_close(mut self) -> Self {
        self.closes = true;
        self
    }

    /// The failure of the store that caused a 503. It may concern every request for a while, so the caller limits its log lines.
    pub(crate) fn store_failure(&self) -> Option<&StoreError> {
        match &self.cause {
            Some(Cause::Store(cause)) => Some(cause),
            Some(Cause::Internal(_)) | None => None,
        }
    }

    fn with(mut self, header: Header) -> Self {
        self.header = Some(header);
        self
    }

    /// Renders the response, and logs the cause with the id of the request.
    pub(crate) fn respond(&self, request_id: &str) -> HttpResponse {
        match &self.cause {
            Some(Cause::Store(cause)) => log::debug!(request_id; "request {request_id} failed: {cause}"),
            Some(Cause::Internal(cause)) => log::error!(request_id; "request {request_id} failed: {cause}"),
            None => {}
        }
        self.render()
    }

    fn render(&self) -> HttpResponse {
        let mut builder = HttpResponse::build(self.status);
        match &self.header {
            Some(Header::Challenge) => builder.insert_header((WWW_AUTHENTICATE, CHALLENGE)),
            Some(Header::Allow(methods)) => builder.insert_header((ALLOW, methods.as_str())),
            Some(Header::RetryAfterSeconds(seconds)) => builder.insert_header((RETRY_AFTER, *seconds)),
            None => &mut builder,
        };
        if self.closes {
            builder.force_close();
        }
        builder.extensions_mut().insert(Refused(self.message.clone()));
        builder.json(ErrorBody { error: Body { status: self.status.as_u16(), message: &self.message } })
    }

    /// The status and the message.
    pub(crate) fn told(&self) -> (u16, &str) {
        (self.status.as_u16(), &self.message)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.status.as_u16(), self.message)
    }
}

impl std::error::Error for ApiError {}

/// actix-web renders errors that leave a middleware by this trait.
impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        self.render()
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy
            | StoreError::WouldBlock
            | StoreError::DeadlineExceeded
            | StoreError::Unavailable(_)
            | StoreError::OutcomeUnknown(_) => {
                let mut refusal = Self::unavailable("the service is temporarily unavailable", 1);
                refusal.cause = Some(Cause::Store(error));
                refusal
            }
            StoreError::Corrupt { .. } | StoreError::Broken(_) => Self::internal(error.to_string()),
        }
    }
}

impl From<InvalidBody> for ApiError {
    fn from(fault: InvalidBody) -> Self {
        Self::bad_request(fault.0)
    }
}

/// The object named by a field of the query or the body (behaviour 5.4); the error's message names the field.
impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Absent(_) => Self::not_found(denied.to_string()),
            Denied::Foreign(_) => Self::forbidden(denied.to_string()),
        }
    }
}

/// The object named by the path, or 404 or 403.
pub(crate) fn in_path<T>(found: Lookup<T>, noun: &'static str) -> Result<T, ApiError> {
    found.named("id").map_err(|denied| ApiError::path_denied(denied, noun))
}

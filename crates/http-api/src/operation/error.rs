//! The errors of the API, which all have the same form (behaviour 5).

use std::borrow::Cow;
use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use guerdon_api_types::body::InvalidBody;
use guerdon_api_types::parameter::FieldFault;
use guerdon_domain::ports::{Denied, DeniedReference, Lookup, StoreError};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use uuid::Uuid;

use crate::operation::ErrorCode;

/// The parameter of the path that identifies an object.
const PATH_ID: &str = "id";
const CHALLENGE: &str = r#"Basic realm="guerdon", charset="UTF-8""#;

/// An error response: the part for the client, and the cause for the log.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    /// Boxed, so that a `Result` with this error is small.
    details: Box<ErrorDetails>,
    /// The name and the value of an additional header.
    header: Option<(&'static str, String)>,
    closes_connection: bool,
    /// The failure of the store that caused a 503, for the log only.
    store_failure: Option<StoreError>,
}

/// The content of an error. It is attached to the response, so that the response can be rendered in another format.
#[derive(Debug, Clone)]
pub(crate) struct ErrorDetails {
    pub(crate) code: ErrorCode,
    pub(crate) message: Cow<'static, str>,
    /// The faults of fields, in the order of the message.
    pub(crate) faults: Vec<FieldFault>,
    /// The kind of the store's failure, for the operator only.
    pub(crate) failure_kind: Option<&'static str>,
    /// The cause of an internal error, for the log only.
    pub(crate) internal_cause: Option<String>,
}

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
    /// The reason as text: a 400 names each invalid field and its rule.
    /// Example: `"company not found: id 019a9c3e-5d73-7b1a-8f0e-2d4c6a8b0e12"`
    message: &'a str,
}

/// The statuses of all errors.
pub(crate) fn status_schema(_: &mut SchemaGenerator) -> Schema {
    let statuses: BTreeSet<u16> = ErrorCode::ALL.iter().map(|code| code.status().as_u16()).collect();
    json_schema!({"type": "integer", "enum": statuses})
}

impl ApiError {
    /// An error whose code determines its status.
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_faults(code, message, Vec::new())
    }

    fn with_faults(code: ErrorCode, message: impl Into<Cow<'static, str>>, faults: Vec<FieldFault>) -> Self {
        let details =
            ErrorDetails { code, message: message.into(), faults, failure_kind: None, internal_cause: None };
        Self { details: Box::new(details), header: None, closes_connection: false, store_failure: None }
    }

    /// An error about one field, which the message names.
    pub(crate) fn about_field(code: ErrorCode, field: &str, message: impl Into<Cow<'static, str>>) -> Self {
        let message = message.into();
        let fault = FieldFault::new(field, &*message);
        Self::with_faults(code, message, vec![fault])
    }

    /// The cause of an internal error; the message of any other error.
    pub(crate) fn internal_cause_or_message(&self) -> &str {
        self.details.internal_cause.as_deref().unwrap_or(&self.details.message)
    }

    /// 400 for a request that is invalid apart from its fields.
    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    /// 400 for an incomplete body of a request whose method takes no body.
    pub(crate) fn unread_body() -> Self {
        Self::bad_request("a request with this method must have no body, or a complete one")
    }

    /// 400 for invalid fields; the message names each field and its rule (behaviour 5.3).
    pub(crate) fn invalid_fields(faults: Vec<FieldFault>) -> Self {
        Self::with_faults(ErrorCode::InvalidRequest, FieldFault::join_messages(&faults), faults)
    }

    /// 400 for one invalid field.
    pub(crate) fn invalid_field(field: &str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::about_field(ErrorCode::InvalidRequest, field, message)
    }

    /// 403 for a request over plain HTTP.
    pub(crate) fn https_required() -> Self {
        Self::new(ErrorCode::HttpsRequired, "HTTPS is required")
    }

    /// 401, with the same message for every cause (behaviour 9.2).
    pub(crate) fn unauthorized() -> Self {
        Self::new(ErrorCode::Unauthorized, "the API credentials are missing or invalid")
            .with_header("www-authenticate", CHALLENGE)
    }

    /// 403.
    pub(crate) fn forbidden(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::Forbidden, message)
    }

    /// 403 for an operation that needs a designation (behaviour 9.3).
    pub(crate) fn not_designated() -> Self {
        Self::forbidden("the provider is not designated to manage all domain resources")
    }

    /// 404.
    pub(crate) fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// 404 for a path that no endpoint has.
    pub(crate) fn unknown_path() -> Self {
        Self::not_found("unknown path; GET /docs lists the API")
    }

    /// 404, because no object has the id in the path.
    pub(crate) fn not_found_in_path(noun: &str) -> Self {
        Self::about_field(ErrorCode::NotFound, PATH_ID, format!("{noun} not found"))
    }

    /// 403 for an object in the path that the provider may not use.
    pub(crate) fn forbidden_in_path(message: impl Into<Cow<'static, str>>) -> Self {
        Self::about_field(ErrorCode::Forbidden, PATH_ID, message)
    }

    /// 404 or 403, because the provider cannot use the object in the path.
    pub(crate) fn from_denied_path(denied: Denied, noun: &'static str) -> Self {
        match denied {
            Denied::Absent(_) => Self::not_found_in_path(noun),
            Denied::Foreign(_) => Self::forbidden_in_path(format!("the {noun} belongs to another provider")),
        }
    }

    /// Adds the id in the path to the message, if the object that the id identifies caused this 404 or 403
    /// (behaviour 5.4).
    pub(crate) fn with_path_id(mut self, id: Option<Uuid>) -> Self {
        let is_denied = matches!(self.details.code, ErrorCode::NotFound | ErrorCode::Forbidden);
        if let (true, Some(id), [fault]) = (is_denied, id, &mut *self.details.faults)
            && fault.fields == [PATH_ID]
        {
            fault.message = format!("{}: id {id}", fault.message);
            self.details.message = fault.message.clone().into();
        }
        self
    }

    /// 405, with the methods that the path supports.
    pub(crate) fn method_not_allowed(allowed: &str) -> Self {
        let message = format!("the path does not support this method; it supports {allowed}");
        Self::new(ErrorCode::MethodNotAllowed, message).with_header("allow", allowed)
    }

    /// 400 for an idempotency key that is empty, too long or not visible ASCII.
    pub(crate) fn malformed_key() -> Self {
        Self::bad_request("Idempotency-Key must be 1 to 255 visible ASCII characters")
    }

    /// 400 for an idempotency key that was already used for another request.
    pub(crate) fn key_reused() -> Self {
        Self::new(ErrorCode::IdempotencyKeyReused, "Idempotency-Key must not be used for another request")
    }

    /// 410, for a retired version.
    pub(crate) fn version_gone() -> Self {
        Self::new(ErrorCode::VersionRetired, "this version of the API is no longer supported")
    }

    /// 429 for a provider over its rate limit, with the seconds to wait, at least one.
    pub(crate) fn too_many_requests(wait_seconds: u64) -> Self {
        Self::new(ErrorCode::RateLimited, "too many requests: the provider's limit is reached")
            .with_header("retry-after", wait_seconds.max(1).to_string())
    }

    /// 429 for too many failed logins, with the seconds to wait, at least one.
    pub(crate) fn too_many_failed_logins(wait_seconds: u64) -> Self {
        Self::new(ErrorCode::LoginRateLimited, "too many requests with invalid credentials")
            .with_header("retry-after", wait_seconds.max(1).to_string())
    }

    /// 503 because too many requests are in progress.
    pub(crate) fn busy() -> Self {
        Self::unavailable("the service is busy", 1)
    }

    /// 503, with the seconds to wait.
    pub(crate) fn unavailable(message: &'static str, wait_seconds: u64) -> Self {
        Self::new(ErrorCode::Unavailable, message).with_header("retry-after", wait_seconds.to_string())
    }

    /// 503 for a request that cannot be read but may succeed if it is sent again, otherwise 400.
    pub(crate) fn unreadable_request(message: &'static str, may_retry: bool) -> Self {
        if may_retry { Self::unavailable(message, 1) } else { Self::bad_request(message) }
    }

    /// 503 during maintenance, with the seconds to wait.
    pub(crate) fn under_maintenance(wait_seconds: u64) -> Self {
        Self::new(ErrorCode::Maintenance, "the service is under maintenance")
            .with_header("retry-after", wait_seconds.to_string())
    }

    /// 500; the cause is logged with the id of the request.
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorCode::Internal, "internal server error");
        error.details.internal_cause = Some(cause.into());
        error
    }

    /// Closes the connection after the response, so that the rest of the request is not read.
    pub(crate) fn closing_connection(mut self) -> Self {
        self.closes_connection = true;
        self
    }

    /// The failure of the store that caused a 503. While the store is unavailable, every request may fail in this way,
    /// so the caller must limit the log lines.
    pub(crate) fn store_failure(&self) -> Option<&StoreError> {
        self.store_failure.as_ref()
    }

    fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.header = Some((name, value.into()));
        self
    }

    /// Renders the response. Logs a failure of the store with the id of the request. The details, including the cause
    /// of an internal error, are put into the extensions of the response, which are not sent; `request_log` logs them.
    pub(crate) fn log_and_respond(&self, request_id: &str) -> HttpResponse {
        if let Some(cause) = self.store_failure() {
            log::debug!(request_id, cause:%; "a request failed because of the database");
        }
        let mut builder = HttpResponse::build(self.status());
        if let Some((name, value)) = &self.header {
            builder.insert_header((*name, value.as_str()));
        }
        if self.closes_connection {
            builder.force_close();
        }
        builder.extensions_mut().insert(self.details().clone());
        builder.json(self.body())
    }

    /// The body in the default format.
    pub(crate) fn body(&self) -> ErrorBody<'_> {
        ErrorBody { error: Body { status: self.status().as_u16(), message: &self.details.message } }
    }

    /// The code, the message and the invalid fields.
    pub(crate) fn details(&self) -> &ErrorDetails {
        &self.details
    }

    fn status(&self) -> StatusCode {
        self.details.code.status()
    }

    /// The status and the message.
    pub(crate) fn status_and_message(&self) -> (u16, &str) {
        (self.status().as_u16(), &self.details.message)
    }

    /// The code, and the invalid fields.
    #[cfg(test)]
    pub(crate) fn code_and_fields(&self) -> (ErrorCode, Vec<&str>) {
        (
            self.details.code,
            self.details.faults.iter().flat_map(|fault| fault.fields.iter().map(String::as_str)).collect(),
        )
    }
}

/// The number of seconds after which a client may retry a request about a company that is being moved. A move takes
/// seconds to minutes.
const HANDED_OVER_RETRY_SECONDS: u64 = 5;

impl From<StoreError> for ApiError {
    fn from(failure: StoreError) -> Self {
        let kind = failure.kind();
        let mut error = match &failure {
            StoreError::Busy
            | StoreError::WouldBlock
            | StoreError::DeadlineExceeded
            | StoreError::Unavailable(_)
            | StoreError::OutcomeUnknown(_) => Self::unavailable("the service is temporarily unavailable", 1),
            StoreError::CompanyHandedOver => Self::unavailable(kind, HANDED_OVER_RETRY_SECONDS),
            StoreError::Corrupt { .. } | StoreError::Broken(_) => Self::internal(failure.to_string()),
        };
        // A company that was handed over says nothing about the state of the database.
        if error.details.code != ErrorCode::Internal && !matches!(failure, StoreError::CompanyHandedOver) {
            error.store_failure = Some(failure);
        }
        error.details.failure_kind = Some(kind);
        error
    }
}

impl From<InvalidBody> for ApiError {
    fn from(fault: InvalidBody) -> Self {
        Self::with_faults(ErrorCode::InvalidRequest, fault.message, fault.faults)
    }
}

/// 404 or 403 for an object that a field of the query or the body identifies (behaviour 5.4). The message contains the
/// field and the id.
impl From<DeniedReference> for ApiError {
    fn from(reference: DeniedReference) -> Self {
        let code = match reference.denied {
            Denied::Absent(_) => ErrorCode::NotFound,
            Denied::Foreign(_) => ErrorCode::Forbidden,
        };
        Self::about_field(code, reference.denied.field(), reference.to_string())
    }
}

/// Returns the object whose id is in the path, or 404 or 403.
pub(crate) fn require_in_path<T>(found: Lookup<T>, noun: &'static str) -> Result<T, ApiError> {
    found.or_denied(PATH_ID).map_err(|denied| ApiError::from_denied_path(denied, noun))
}

#[cfg(test)]
mod tests;

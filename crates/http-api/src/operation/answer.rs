//! The response of an operation.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;

use crate::operation::budget::Weight;
use crate::operation::error::ApiError;
use crate::operation::segments::{Outgoing, Segments};

/// A rendered response: the status and the body, as they are stored for retries.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// The JSON body; empty for 204.
    pub(crate) body: Segments,
    headers: Vec<(HeaderName, HeaderValue)>,
    weight: Option<Weight>,
}

impl Answer {
    /// 200 with a body.
    pub(crate) fn ok(view: &impl Serialize) -> Result<Self, ApiError> {
        Self::rendered(StatusCode::OK, view)
    }

    /// 201 with a body.
    pub(crate) fn created(view: &impl Serialize) -> Result<Self, ApiError> {
        Self::rendered(StatusCode::CREATED, view)
    }

    /// 204.
    pub(crate) fn no_content() -> Self {
        Self::kept(StatusCode::NO_CONTENT, Segments::default())
    }

    /// A response that was rendered earlier.
    pub(crate) fn kept(status: StatusCode, body: Segments) -> Self {
        Self { status, body, headers: Vec::new(), weight: None }
    }

    fn rendered(status: StatusCode, view: &impl Serialize) -> Result<Self, ApiError> {
        let mut body = Segments::default();
        match serde_json::to_writer(&mut body, view) {
            Ok(()) => Ok(Self::kept(status, body)),
            Err(error) => Err(ApiError::internal(format!("a view cannot be rendered: {error}"))),
        }
    }

    /// Adds a header, unless its value is not valid in a header.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Attaches the memory that was reserved for the response. The response keeps the part that it needs until it has been sent.
    pub(crate) fn holding(mut self, mut weight: Weight) -> Self {
        weight.settle(self.body.len());
        self.weight = Some(weight);
        self
    }

    /// The HTTP response.
    pub(crate) fn respond(self) -> HttpResponse {
        let mut builder = HttpResponse::build(self.status);
        for header in self.headers {
            builder.append_header(header);
        }
        if self.status == StatusCode::NO_CONTENT {
            return builder.finish();
        }
        builder.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")));
        builder.body(Outgoing::new(self.body, self.weight))
    }
}

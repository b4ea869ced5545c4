//! The response of an operation.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use guerdon_domain::values::CompanyId;
use serde::Serialize;

use crate::operation::ApiError;
use crate::operation::chunked_body::{ChunkedBody, OutgoingBody};
use crate::operation::memory_budget::MemoryPermit;

/// A rendered response: the status and the body, as they are stored for retries.
pub(crate) struct RenderedResponse {
    pub(crate) status: StatusCode,
    /// The JSON body; empty for 204.
    pub(crate) body: ChunkedBody,
    /// The company that the request concerned, to store with the response; `None` if it concerned none or several.
    pub(crate) company_id: Option<CompanyId>,
    headers: Vec<(HeaderName, HeaderValue)>,
    memory: Option<MemoryPermit>,
}

impl RenderedResponse {
    /// 200 with a body.
    pub(crate) fn ok(view: &impl Serialize) -> Result<Self, ApiError> {
        Self::render_view(StatusCode::OK, view)
    }

    /// 201 with a body.
    pub(crate) fn created(view: &impl Serialize) -> Result<Self, ApiError> {
        Self::render_view(StatusCode::CREATED, view)
    }

    /// 204.
    pub(crate) fn no_content() -> Self {
        Self::from_stored(StatusCode::NO_CONTENT, ChunkedBody::default())
    }

    /// A stored response.
    pub(crate) fn from_stored(status: StatusCode, body: ChunkedBody) -> Self {
        Self { status, body, company_id: None, headers: Vec::new(), memory: None }
    }

    fn render_view(status: StatusCode, view: &impl Serialize) -> Result<Self, ApiError> {
        let mut body = ChunkedBody::default();
        match serde_json::to_writer(&mut body, view) {
            Ok(()) => Ok(Self::from_stored(status, body)),
            Err(error) => Err(ApiError::internal(format!("cannot render a response: {error}"))),
        }
    }

    /// Names the company that the request concerned.
    pub(crate) fn about_company(self, id: CompanyId) -> Self {
        Self { company_id: Some(id), ..self }
    }

    /// Adds a header, unless its value is not valid in a header.
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    /// Attaches the memory that was reserved for the response. The response keeps the part that it needs until it has
    /// been sent.
    pub(crate) fn with_memory(mut self, mut memory: MemoryPermit) -> Self {
        memory.resize_to(self.body.len());
        self.memory = Some(memory);
        self
    }

    /// The HTTP response.
    pub(crate) fn into_http_response(self) -> HttpResponse {
        let mut builder = HttpResponse::build(self.status);
        for header in self.headers {
            builder.append_header(header);
        }
        if self.status == StatusCode::NO_CONTENT {
            return builder.finish();
        }
        builder.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")));
        builder.body(OutgoingBody::new(self.body, self.memory))
    }
}

//! One request, as an operation sees it.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use guerdon_domain::ports::{Reads, StoreError};
use guerdon_domain::values::ProviderId;

use crate::api::Api;
use crate::arrival::{Arrival, Caller};
use crate::operation::error::ApiError;
use crate::operation::query::Query;

/// What is known of a request without its body.
pub(crate) struct Call {
    /// Whose resources it acts on.
    pub(crate) scope: ProviderId,
    pub(crate) method: &'static str,
    /// The path as it was sent.
    pub(crate) path: String,
    pub(crate) request_id: String,
    /// The query as it was sent, without the question mark.
    pub(crate) text_of_query: String,
    /// The address of the service, as SAML audiences name it; without a trailing slash.
    pub(crate) service_url: Arc<str>,
    /// For how long an answer is kept under its key.
    pub(crate) answers_kept: Duration,
    is_designated: bool,
    id: Option<String>,
}

impl Call {
    pub(crate) fn new(method: &'static str, request: &HttpRequest, caller: &Caller, api: &Api) -> Self {
        Self {
            scope: caller.id,
            method,
            path: request.path().to_owned(),
            request_id: Arrival::of(request).id.to_string(),
            text_of_query: request.query_string().to_owned(),
            service_url: Arc::clone(&api.service_url),
            answers_kept: api.answers_kept,
            is_designated: caller.is_designated,
            id: request.match_info().get("id").map(str::to_owned),
        }
    }

    /// The last variable part of the path, decoded; none where the path has no such part.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The id in the path: what is no UUID names nothing (behaviour 5.4).
    pub(crate) fn path_id<T: FromStr>(&self, noun: &'static str) -> Result<T, ApiError> {
        let parsed = self.id().and_then(|it| it.parse().ok());
        parsed.ok_or_else(|| ApiError::not_found(format!("{noun} not found")))
    }

    /// What a reader makes of the query, or its refusal.
    pub(crate) fn query<T>(&self, read: impl FnOnce(&mut Query) -> Option<T>) -> Result<T, ApiError> {
        Query::read(&self.text_of_query, read)
    }

    /// Whether the caller was designated when its provider was last read.
    pub(crate) fn is_designated(&self) -> bool {
        self.is_designated
    }

    /// Refuses an undesignated provider (behaviour 9.3); a right that was given just now counts.
    pub(crate) fn require_designation(&self, reads: &mut dyn Reads) -> Result<(), ApiError> {
        if self.is_designated || is_designated_now(reads, self.scope)? {
            return Ok(());
        }
        Err(ApiError::forbidden("the provider is not designated to manage all domain resources"))
    }
}

fn is_designated_now(reads: &mut dyn Reads, id: ProviderId) -> Result<bool, StoreError> {
    Ok(reads.provider(id)?.is_some_and(|it| it.manages_all_domain_resources))
}

//! The part of a request that every operation receives.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use guerdon_domain::idempotency::IdempotentRequest;
use guerdon_domain::journal::{Actor, Requester};
use guerdon_domain::ports::ReadTx;
use guerdon_domain::values::{CompanyId, ProviderId, Timestamp};
use uuid::Uuid;

use crate::api::Api;
use crate::operation::{ApiError, Query};
use crate::request_info::{Caller, RequestInfo};

/// A request without its body.
pub(crate) struct Call {
    /// The provider whose resources the request acts on.
    pub(crate) scope: ProviderId,
    pub(crate) method: &'static str,
    /// The path as it was sent.
    pub(crate) path: String,
    pub(crate) request_id: String,
    /// The query as it was sent, without the question mark.
    pub(crate) query_string: String,
    /// The URL of the service in SAML audiences, without a trailing slash.
    pub(crate) service_url: Arc<str>,
    /// How long a response is stored under its idempotency key.
    pub(crate) response_retention: Duration,
    /// The authenticated provider, as of the admission of the request.
    pub(crate) caller: Caller,
    id: Option<String>,
}

impl Call {
    pub(crate) fn new(method: &'static str, request: &HttpRequest, caller: &Caller, api: &Api) -> Self {
        Self {
            scope: caller.id,
            method,
            path: request.path().to_owned(),
            request_id: RequestInfo::from_request(request).id.to_string(),
            query_string: request.query_string().to_owned(),
            service_url: Arc::clone(&api.service_url),
            response_retention: api.response_retention,
            caller: caller.clone(),
            id: request.match_info().get("id").map(str::to_owned),
        }
    }

    /// Who requests the operation, as it is recorded.
    pub(crate) fn requester(&self, key: Option<&IdempotentRequest>) -> Requester {
        Requester {
            actor: Actor::Provider,
            reference: Some(self.request_id.clone()),
            key: key.map(|request| request.key.key.clone()),
        }
    }

    /// The `{id}` parameter of the path, decoded; `None` if the route has none.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The id in the path. A string that is not a UUID fails with 404, because no object can have it as its id
    /// (behaviour 5.4).
    pub(crate) fn path_id<T: FromStr>(&self, noun: &'static str) -> Result<T, ApiError> {
        let parsed = self.id().and_then(|id| id.parse().ok());
        parsed.ok_or_else(|| ApiError::not_found_in_path(noun))
    }

    /// The id in the path, of an object of any type; `None` if the path has none, or one that is not a UUID.
    pub(crate) fn path_uuid(&self) -> Option<Uuid> {
        self.id()?.parse::<CompanyId>().ok().map(CompanyId::as_uuid) // the ids of all types have the same format
    }

    /// Parses the query with `read`. Fails with 400 if the query is invalid.
    pub(crate) fn parse_query<T>(&self, read: impl FnOnce(&mut Query) -> Option<T>) -> Result<T, ApiError> {
        Query::parse_with(&self.query_string, read)
    }

    /// Fails for a provider that is not designated (behaviour 9.3). A designation takes effect at once, and its end
    /// within a second.
    pub(crate) fn require_designation(&self, reads: &mut dyn ReadTx) -> Result<(), ApiError> {
        let is_designated = self.caller.is_designated && self.caller.is_current()
            || reads.find_provider(self.scope)?.is_some_and(|provider| provider.manages_all_domain_resources);
        if is_designated { Ok(()) } else { Err(ApiError::not_designated()) }
    }
}

/// Fails with 401 if, after the request was admitted, the provider was suspended or the secret of the request was
/// revoked. Must be called when the work of a request begins, because the request may have waited for its body, a
/// permit or an event. Loads the provider again unless it was read less than [`PROVIDER_TTL`] ago.
pub(crate) fn confirm_caller(
    caller: &Caller,
    reads: &mut dyn ReadTx,
    now: Timestamp,
) -> Result<(), ApiError> {
    if caller.is_current()
        || reads.find_provider(caller.id)?.is_some_and(|provider| caller.is_accepted_by(&provider, now))
    {
        return Ok(());
    }
    Err(ApiError::unauthorized())
}

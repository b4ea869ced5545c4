//! Failed requests.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::ports::{FailedRequest, StoreError};
use guerdon_domain::values::ProviderId;

use super::schema::failed_requests;
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = failed_requests, treat_none_as_default_value = false)]
pub(crate) struct FailedRequestRow<'a> {
    id: Id,
    request_id: Cow<'a, str>,
    provider_id: Option<Id<ProviderId>>,
    method: Cow<'a, str>,
    route: Option<Cow<'a, str>>,
    status: i16,
    status_class: i16,
    duration_ms: i64,
    reason: Cow<'a, str>,
    created_at: DbTimestamp,
}

/// The value of `status_class`.
pub(crate) const fn status_class(is_server_error: bool) -> i16 {
    if is_server_error { 5 } else { 4 }
}

impl<'a> FailedRequestRow<'a> {
    pub(crate) fn from_request(request: &'a FailedRequest) -> Self {
        Self {
            id: Id(request.id),
            request_id: Cow::Borrowed(&request.request_id),
            provider_id: request.provider_id.map(Id),
            method: Cow::Borrowed(&request.method),
            route: request.route.as_deref().map(Cow::Borrowed),
            status: i16::try_from(request.status).unwrap_or(i16::MAX),
            status_class: status_class(request.is_server_error()),
            duration_ms: i64::try_from(request.duration_ms).unwrap_or(i64::MAX),
            reason: Cow::Borrowed(&request.reason),
            created_at: DbTimestamp(request.at),
        }
    }

    pub(crate) fn into_request(self) -> Result<FailedRequest, StoreError> {
        let reader = RowReader { table: "failed_requests", id: &self.id.0 };
        Ok(FailedRequest {
            id: self.id.0,
            status: reader.require_valid("status", u16::try_from(self.status).ok())?,
            duration_ms: reader.require_valid("duration_ms", u64::try_from(self.duration_ms).ok())?,
            request_id: self.request_id.into_owned(),
            at: self.created_at.0,
            provider_id: self.provider_id.map(|provider| provider.0),
            method: Cow::Owned(self.method.into_owned()),
            route: self.route.map(Cow::into_owned),
            reason: self.reason.into_owned(),
        })
    }
}

//! Failed requests.

use guerdon_console::LogPosition;
use guerdon_console::model::{FailedRequest as ConsoleRequest, FailedRequests, LogPage};
use guerdon_console::pages::requests::RequestFilter;
use guerdon_domain::ports::{FailedRequest, FailedRequestQuery, StoreError};
use guerdon_domain::values::ProviderId;

use super::{PageContext, provider_reference, provider_references, to_utc};

const PAGE_SIZE: usize = 50;
/// No request has this status.
const NO_STATUS: u16 = 0;

pub(super) fn load_requests(mut context: PageContext<'_>) -> Result<FailedRequests, StoreError> {
    let names = context.provider_names()?;
    let query = request_query(&context);
    let mut found = context.reads.list_failed_requests(&query)?;
    let has_more = found.len() > PAGE_SIZE;
    if has_more {
        let extra = if query.after.is_some() { 0 } else { found.len() - 1 };
        found.remove(extra);
    }
    let has_newer = query.before.is_some() || (query.after.is_some() && has_more);
    let has_older = query.after.is_some() || has_more;
    let newer = found.first().filter(|_| has_newer).map(|request| request.id.to_string());
    let older = found.last().filter(|_| has_older).map(|request| request.id.to_string());
    let row = |request: FailedRequest| ConsoleRequest {
        request_id: request.request_id,
        at: to_utc(request.at),
        provider: request.provider_id.map(|id| provider_reference(&names, id)),
        method: request.method.into_owned(),
        route: request.route,
        status: request.status,
        duration_ms: request.duration_ms,
        reason: request.reason,
    };
    Ok(FailedRequests {
        list: LogPage { rows: found.into_iter().map(row).collect(), newer, older },
        providers: provider_references(&names),
    })
}

/// Builds the query of the page. An invalid status matches no request; other invalid values are ignored.
fn request_query(context: &PageContext<'_>) -> FailedRequestQuery {
    let filter = RequestFilter::from_query(context.query);
    let (before, after) = match LogPosition::from_query(context.query) {
        LogPosition::Before(cursor) => (cursor.parse().ok(), None),
        LogPosition::After(cursor) => (None, cursor.parse().ok()),
        LogPosition::Newest => (None, None),
    };
    let parse_statuses =
        |status: String| FailedRequestQuery::parse_statuses(&status).unwrap_or(NO_STATUS..=NO_STATUS);
    FailedRequestQuery {
        request_id: filter.request_id,
        provider: filter.provider.and_then(|id| id.parse::<ProviderId>().ok()),
        statuses: filter.status.map(parse_statuses),
        since: None,
        before,
        after,
        limit: i64::try_from(PAGE_SIZE).unwrap_or(50) + 1, // one more than is shown, to know whether there are more
    }
}

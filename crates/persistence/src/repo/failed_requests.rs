//! Failed requests. Ids increase with time, so the newest come last.

use std::collections::HashSet;

use diesel::prelude::*;
use guerdon_domain::ports::{
    FAILED_REQUESTS_MAX, FAILED_REQUESTS_PER_PROVIDER_MAX, FailedRequest, FailedRequestQuery, FailedRequests,
    ReadFailedRequests, StoreError,
};
use guerdon_domain::values::{ProviderId, checked_cast};

use super::Unit;
use super::events::first_id_since;
use crate::rows::schema::failed_requests;
use crate::rows::{DbTimestamp, FailedRequestRow, Id, status_class};

/// The maximum number of rows that one statement inserts or deletes.
const ROWS_PER_STATEMENT: usize = 500;

/// The records to which a maximum number applies.
#[derive(Clone, Copy)]
enum KeptRecords {
    All,
    /// The records of one provider, or those without a provider.
    OfProvider(Option<ProviderId>),
}

impl ReadFailedRequests for Unit<'_> {
    fn list_failed_requests(&mut self, query: &FailedRequestQuery) -> Result<Vec<FailedRequest>, StoreError> {
        let mut wanted = failed_requests::table.select(FailedRequestRow::as_select()).into_boxed();
        if let Some(request_id) = &query.request_id {
            wanted = wanted.filter(failed_requests::request_id.eq(request_id));
        }
        if let Some(provider) = query.provider {
            wanted = wanted.filter(failed_requests::provider_id.eq(Id(provider)));
        }
        if let Some(statuses) = &query.statuses {
            let status = |status: u16| i16::try_from(status).unwrap_or(i16::MAX);
            let (first, last) = (status(*statuses.start()), status(*statuses.end()));
            wanted = wanted.filter(failed_requests::status.between(first, last));
        }
        if let Some(since) = query.since {
            wanted = wanted.filter(failed_requests::id.ge(Id(first_id_since(since))));
            wanted = wanted.filter(failed_requests::created_at.ge(DbTimestamp(since)));
        }
        if let Some(before) = query.before {
            wanted = wanted.filter(failed_requests::id.lt(Id(before)));
        }
        if let Some(after) = query.after {
            wanted = wanted.filter(failed_requests::id.gt(Id(after))).order(failed_requests::id.asc());
        } else {
            wanted = wanted.order(failed_requests::id.desc());
        }
        let wanted = wanted.limit(query.limit);
        let mut found = self.list(FailedRequestRow::into_request, |conn| wanted.get_results(conn))?;
        if query.after.is_some() {
            found.reverse();
        }
        Ok(found)
    }
}

impl FailedRequests for Unit<'_> {
    fn record_failed_requests(&mut self, requests: &[FailedRequest]) -> Result<(), StoreError> {
        for slice in requests.chunks(ROWS_PER_STATEMENT) {
            let rows: Vec<_> = slice.iter().map(FailedRequestRow::from_request).collect();
            self.query(|conn| {
                diesel::insert_into(failed_requests::table)
                    .values(&rows)
                    .on_conflict_do_nothing()
                    .execute(conn)
            })?;
        }
        let partitions: HashSet<(bool, Option<ProviderId>)> =
            requests.iter().map(|request| (request.is_server_error(), request.provider_id)).collect();
        for (is_server_error, provider) in &partitions {
            let records = KeptRecords::OfProvider(*provider);
            self.delete_excess(*is_server_error, records, FAILED_REQUESTS_PER_PROVIDER_MAX)?;
        }
        for is_server_error in [false, true] {
            if partitions.iter().any(|partition| partition.0 == is_server_error) {
                self.delete_excess(is_server_error, KeptRecords::All, FAILED_REQUESTS_MAX)?;
            }
        }
        Ok(())
    }
}

impl Unit<'_> {
    /// Deletes all but the newest `kept_max` of the records.
    fn delete_excess(
        &mut self,
        is_server_error: bool,
        records: KeptRecords,
        kept_max: usize,
    ) -> Result<(), StoreError> {
        loop {
            let mut excess = failed_requests::table
                .filter(failed_requests::status_class.eq(status_class(is_server_error)))
                .order(failed_requests::id.desc())
                .offset(checked_cast(kept_max))
                .limit(checked_cast(ROWS_PER_STATEMENT))
                .select(failed_requests::id)
                .into_boxed();
            match records {
                KeptRecords::All => {}
                KeptRecords::OfProvider(Some(provider)) => {
                    excess = excess.filter(failed_requests::provider_id.eq(Id(provider)));
                }
                KeptRecords::OfProvider(None) => {
                    excess = excess.filter(failed_requests::provider_id.is_null());
                }
            }
            let ids: Vec<Id> = self.query(|conn| excess.get_results(conn))?;
            if ids.is_empty() {
                return Ok(());
            }
            let rows = failed_requests::table.filter(failed_requests::id.eq_any(&ids));
            self.query(|conn| diesel::delete(rows).execute(conn))?;
            if ids.len() < ROWS_PER_STATEMENT {
                return Ok(());
            }
        }
    }
}

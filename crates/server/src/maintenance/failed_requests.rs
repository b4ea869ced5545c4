//! Stores the failed requests of this process in small batches. While the database is unavailable, they stay in memory,
//! up to the limits of the buffer. A crash loses those in the buffer: usually the failed requests of the last half
//! second, more during a flood or an outage.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use guerdon_domain::ports::{Store, StoreExt as _};
use guerdon_http_api::FailedRequestBuffer;

/// The maximum number of records in one transaction, which occupies the writer for a few milliseconds. Even a flood of
/// failures causes only one such transaction per interval.
const RECORDS_PER_TRANSACTION: usize = 200;

/// Moves failed requests from the buffer to the database.
pub(crate) struct FailedRequestWriter {
    store: Arc<dyn Store>,
    buffer: Arc<FailedRequestBuffer>,
    /// Locked while a batch is moved from the buffer to the database, so that [`Self::store_all`] waits for it.
    transfer: Mutex<()>,
}

impl FailedRequestWriter {
    /// How often a batch is stored.
    pub(crate) const INTERVAL: Duration = Duration::from_millis(500);

    pub(crate) fn new(store: &Arc<dyn Store>, buffer: &Arc<FailedRequestBuffer>) -> Arc<Self> {
        let (store, buffer) = (Arc::clone(store), Arc::clone(buffer));
        Arc::new(Self { store, buffer, transfer: Mutex::default() })
    }

    /// Stores the next batch. Does nothing if no request has failed.
    pub(crate) fn store_batch(&self) {
        let _transfer = self.transfer.lock().unwrap_or_else(PoisonError::into_inner);
        self.try_store_batch();
    }

    /// Stores all requests that have failed so far, unless the database fails.
    pub(crate) fn store_all(&self) {
        let _transfer = self.transfer.lock().unwrap_or_else(PoisonError::into_inner);
        while self.try_store_batch() == RECORDS_PER_TRANSACTION {}
    }

    /// Stores one batch and returns the number of stored requests. If the database fails, puts the requests back into
    /// the buffer and returns 0.
    fn try_store_batch(&self) -> usize {
        let batch = self.buffer.take_requests(RECORDS_PER_TRANSACTION);
        if batch.is_empty() {
            return 0;
        }
        match self.store.transaction(|tx| tx.record_failed_requests(&batch)) {
            Ok(()) => batch.len(),
            Err(cause) => {
                log::debug!(cause:%; "cannot store failed requests; they stay in memory");
                self.buffer.put_back(batch);
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use guerdon_domain::ports::{
        Clock as _, FailedRequest, FailedRequestQuery, IdGenerator as _, StoreError,
    };

    use super::*;
    use crate::platform::{SystemClock, SystemIds};
    use crate::unreliable_store::UnreliableStore;

    fn add_requests(buffer: &FailedRequestBuffer, count: usize, status: u16) {
        for _ in 0..count {
            buffer.add_request(FailedRequest {
                id: SystemIds.next_id(),
                request_id: "r".to_owned(),
                at: SystemClock.now(),
                provider_id: None,
                method: "GET".into(),
                route: None,
                status,
                duration_ms: 1,
                reason: "why".to_owned(),
            });
        }
    }

    /// The statuses of the stored records, newest first.
    fn stored_statuses(store: &UnreliableStore) -> Vec<u16> {
        let query = FailedRequestQuery { limit: 10_000, ..FailedRequestQuery::default() };
        let found = store.read_snapshot(|reads| reads.list_failed_requests(&query));
        found.unwrap().into_iter().map(|request| request.status).collect()
    }

    #[test]
    fn a_flood_costs_one_small_transaction_per_interval() {
        let (store, buffer) = (UnreliableStore::create().0, Arc::<FailedRequestBuffer>::default());
        let shared: Arc<dyn Store> = store.clone();
        let writer = FailedRequestWriter::new(&shared, &buffer);
        writer.store_batch();
        assert_eq!(store.transactions.load(Ordering::Relaxed), 0, "no request has failed");
        add_requests(&buffer, 100_000, 404);
        add_requests(&buffer, 1, 500);
        writer.store_batch();
        assert_eq!(store.transactions.load(Ordering::Relaxed), 1);
        let stored = stored_statuses(&store);
        assert_eq!((stored.len(), stored[0]), (RECORDS_PER_TRANSACTION, 500));
        writer.store_all();
        assert_eq!(stored_statuses(&store).len(), 1_001);
    }

    #[test]
    fn requests_that_failed_during_an_outage_are_stored_after_it() {
        let (store, buffer) = (UnreliableStore::create().0, Arc::<FailedRequestBuffer>::default());
        let shared: Arc<dyn Store> = store.clone();
        let writer = FailedRequestWriter::new(&shared, &buffer);
        *store.write_failure.lock().unwrap() = Some(StoreError::Busy);
        add_requests(&buffer, 300, 503);
        writer.store_batch();
        writer.store_all();
        assert_eq!(store.transactions.load(Ordering::Relaxed), 2, "a failure ends the attempt");
        add_requests(&buffer, 1, 404);
        *store.write_failure.lock().unwrap() = None;
        writer.store_all();
        let stored = stored_statuses(&store);
        assert_eq!((stored.len(), stored[0], stored[300]), (301, 404, 503));
    }
}

//! Stores the statistics that this process counts, for the operator's pages. A crash loses a few seconds of them, an
//! orderly shutdown none.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{Clock as _, ProviderHour, ServiceHour, Store, StoreError, StoreExt, hour_of};
use guerdon_http_api::{Answers, Traffic};

use super::metrics::Counting;
use crate::platform::SystemClock;

pub(super) const EVERY: Duration = Duration::from_secs(10);
/// How long a shutdown waits for the last statistics to be stored.
pub(super) const LAST_WITHIN: Duration = Duration::from_secs(2);

/// The counters, and the database in which they are stored.
pub(super) struct Figures {
    pub(super) store: Arc<dyn Store>,
    pub(super) traffic: Arc<Traffic>,
    pub(super) counting: Arc<Counting>,
}

impl Figures {
    /// Stores what was counted since the last call. Statistics that cannot be stored are dropped; nothing depends on
    /// them.
    pub(super) fn write(&self) {
        let (answers, deliveries) = (self.traffic.take(), self.counting.take());
        if answers == Answers::default() && deliveries.is_empty() {
            return;
        }
        let hour = hour_of(SystemClock.now());
        let Answers { requests, client_errors, server_errors, micros } = answers;
        let service =
            ServiceHour { hour, requests, client_errors, server_errors, micros, ..ServiceHour::default() };
        let mut providers: Vec<_> = deliveries.into_iter().collect();
        providers.sort_by_key(|delivery| delivery.0); // one order for all processes, which prevents deadlocks
        let written = self.store.transaction(|tx| -> Result<(), StoreError> {
            if requests > 0 {
                tx.add_service_hour(&service)?;
            }
            for (provider, counted) in &providers {
                tx.add_provider_hour(*provider, &ProviderHour { hour, ..*counted })?;
            }
            Ok(())
        });
        if let Err(cause) = written {
            log::debug!("cannot store statistics, a few seconds are lost: {cause}");
        }
    }
}

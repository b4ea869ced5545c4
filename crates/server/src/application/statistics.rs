//! Stores the statistics of this process for the console. A crash loses those of up to ten seconds. An orderly shutdown
//! stores them, unless the database does not respond within two seconds.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{
    Clock as _, DurationSubject, ProviderAttempts, ProviderHour, ServiceHour, Store, StoreError, StoreExt,
    hours_since_epoch,
};
use guerdon_http_api::{RequestCounts, RequestStatistics};

use super::metrics::DeliveryCounters;
use crate::platform::SystemClock;

pub(super) const STORE_INTERVAL: Duration = Duration::from_secs(10);
/// How long a shutdown waits for the last statistics to be stored.
pub(super) const FINAL_STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Stores the counters of this process in the database.
pub(super) struct StatisticsWriter {
    pub(super) store: Arc<dyn Store>,
    pub(super) requests: Arc<RequestStatistics>,
    pub(super) deliveries: Arc<DeliveryCounters>,
}

impl StatisticsWriter {
    /// Stores the counts since the last call. Statistics that cannot be stored are dropped.
    pub(super) fn store_counts(&self) {
        let (request_counts, delivery_counts) = (self.requests.take_counts(), self.deliveries.take_counts());
        if request_counts == RequestCounts::default() && delivery_counts.is_empty() {
            return;
        }
        let now = SystemClock.now();
        let hour = hours_since_epoch(now);
        let RequestCounts { requests, client_errors, server_errors, duration_micros: micros, durations } =
            request_counts;
        let service = ServiceHour {
            hour,
            requests,
            client_errors,
            server_errors,
            duration_micros: micros,
            ..ServiceHour::default()
        };
        let mut providers: Vec<_> = delivery_counts.into_iter().collect();
        providers.sort_by_key(|delivery| delivery.0); // the same order in all processes prevents deadlocks
        let of_providers =
            providers.iter().map(|(id, counts)| (DurationSubject::Deliveries(*id), counts.durations));
        let durations: Vec<_> =
            std::iter::once((DurationSubject::Requests, durations)).chain(of_providers).collect();
        let latest: Vec<_> = providers
            .iter()
            .map(|(provider, counts)| ProviderAttempts {
                provider: *provider,
                latest: counts.latest,
                ended_at: now,
            })
            .collect();
        let written = self.store.transaction(|tx| -> Result<(), StoreError> {
            if requests > 0 {
                tx.add_service_hour(&service)?;
            }
            for (provider, counted) in &providers {
                tx.add_provider_hour(*provider, &ProviderHour { hour, ..counted.attempts })?;
            }
            tx.add_durations(hour, &durations)?;
            tx.add_provider_attempts(&latest)
        });
        if let Err(cause) = written {
            log::debug!(cause:%; "cannot store statistics: the counts of the last interval are lost");
        }
    }
}

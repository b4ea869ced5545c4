//! Writes down what this process counts, for the operator's pages. What a crash loses is a few seconds of figures; an
//! end in order loses none.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::ports::{Clock as _, ProviderHour, ServiceHour, Store, StoreError, StoreExt, hour_of};
use guerdon_http_api::{Answers, Traffic};

use super::metrics::Counting;
use crate::platform::SystemClock;

pub(super) const EVERY: Duration = Duration::from_secs(10);
/// How long an end waits for the last of them.
pub(super) const LAST_WITHIN: Duration = Duration::from_secs(2);

/// Where it is counted, and where it is written down.
pub(super) struct Figures {
    pub(super) store: Arc<dyn Store>,
    pub(super) traffic: Arc<Traffic>,
    pub(super) counting: Arc<Counting>,
}

impl Figures {
    /// Writes what was counted since. What cannot be written is let go: nothing rests on it.
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
        providers.sort_by_key(|it| it.0); // every process in one order, so that none waits for another in a ring
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
            log::debug!("figures of some seconds are lost: {cause}");
        }
    }
}

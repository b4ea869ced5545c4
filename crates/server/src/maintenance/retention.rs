//! Deletes expired records in small steps, so that requests are not delayed.

use guerdon_domain::ports::{Context, Store, StoreError, Timestamp};
use guerdon_domain::retention::{self, RetentionPeriods};

use super::PruneRecord;
use super::pacer::AdaptivePacer;
use crate::settings::Retention;

/// Deletes records past their retention, and records the result in the database.
pub(crate) fn prune(
    store: &dyn Store,
    settings: &Retention,
    context: &Context<'_>,
) -> Result<PruneRecord, StoreError> {
    let mut pacer = new_pacer();
    let pruned = retention::prune_expired(store, periods(settings), &mut pacer, context)?;
    let record = PruneRecord::new(context.clock.now(), pruned, pacer.longest_step());
    record.store(store);
    Ok(record)
}

/// Prepares the tables for the events of the coming days.
pub(crate) fn create_event_partitions(
    store: &dyn Store,
    settings: &Retention,
    now: Timestamp,
) -> Result<usize, StoreError> {
    retention::create_event_partitions(store, periods(settings), now)
}

fn periods(settings: &Retention) -> RetentionPeriods {
    RetentionPeriods { events: settings.events, notifications: settings.mails }
}

/// Deletes expired idempotency records.
pub(crate) fn prune_idempotency_records(store: &dyn Store, now: Timestamp) -> Result<usize, StoreError> {
    retention::prune_idempotency_records(store, now, &mut new_pacer())
}

/// A pacer with steps of 20 to 200 rows, which are short even if none of the rows is cached.
fn new_pacer() -> AdaptivePacer {
    AdaptivePacer::new(50, 20..=200)
}

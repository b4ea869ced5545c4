//! Retention: deletes delivered events, sent notifications and expired idempotency records after their retention
//! period.
//!
//! Deletion runs in steps of a bounded number of rows, each in a separate transaction, so that other writers
//! wait for at most one step. If a run fails or the process ends, the completed steps persist and the next
//! run continues.

use std::time::Duration;

use crate::model::Action;
use crate::ports::{Context, Pacer, Setting, Settings, Store, StoreError, StoreExt, Timestamp, run_step};

/// The retention period of each kind of record, counted from its creation; `None` keeps it forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionPeriods {
    /// Delivered events with their attempts.
    pub events: Option<Duration>,
    /// Sent notifications.
    pub notifications: Option<Duration>,
}

/// The number of records that a run deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Delivered events that were deleted one by one, each with its attempts.
    pub events: usize,
    /// Partitions of delivered events that were dropped as a whole.
    pub event_partitions: usize,
    /// Sent notifications.
    pub notifications: usize,
    /// Idempotency records that had expired.
    pub idempotency_records: usize,
}

impl Pruned {
    /// Whether the run deleted nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Deletes everything that is past its retention period, and writes one audit entry if it deleted anything other than
/// statistics.
///
/// # Errors
///
/// If the store fails. Rows that earlier steps deleted stay deleted, and the audit entry counts them.
pub fn prune_expired(
    store: &dyn Store,
    periods: RetentionPeriods,
    pacer: &mut dyn Pacer,
    context: &Context<'_>,
) -> Result<Pruned, StoreError> {
    let mut pruned = Pruned::default();
    let deleted = delete_expired(store, periods, context.clock.now(), pacer, &mut pruned);
    let recorded = record_pruned(store, pruned, context);
    deleted.and(recorded)?;
    Ok(pruned)
}

fn delete_expired(
    store: &dyn Store,
    periods: RetentionPeriods,
    now: Timestamp,
    pacer: &mut dyn Pacer,
    pruned: &mut Pruned,
) -> Result<(), StoreError> {
    prune_all(pacer, &mut pruned.idempotency_records, |limit| {
        store.transaction(|tx| tx.prune_idempotency_records(now, limit))
    })?;
    let events_before = periods.events.map(|period| now - period);
    store.transaction(|tx| record_events_pruned_before(tx, events_before, now))?;
    // If a partition cannot be dropped, everything else is deleted nevertheless. Its events are deleted one by one,
    // unless the next run may succeed in dropping it.
    let mut drop_error = None;
    if let Some(before) = events_before {
        drop_error = drop_expired_event_partitions(store, before, pacer, &mut pruned.event_partitions).err();
        if !matches!(drop_error, Some(StoreError::Busy)) {
            prune_events(store, before, pacer, &mut pruned.events)?;
        }
    }
    if let Some(before) = periods.notifications.map(|period| now - period) {
        prune_all(pacer, &mut pruned.notifications, |limit| {
            store.transaction(|tx| tx.prune_notifications(before, limit))
        })?;
    }
    prune_all(pacer, &mut 0, |limit| store.transaction(|tx| tx.prune_statistics(now, limit)))?;
    drop_error.map_or(Ok(()), Err)
}

fn record_pruned(store: &dyn Store, pruned: Pruned, context: &Context<'_>) -> Result<(), StoreError> {
    if pruned.is_empty() {
        return Ok(());
    }
    let Pruned { events, event_partitions, notifications, idempotency_records } = pruned;
    let summary = format!(
        "{event_partitions} partitions of events, {events} events, {notifications} emails, \
         {idempotency_records} idempotency records"
    );
    store.transaction(|tx| {
        tx.record_audit_entry(&context.new_audit_entry(Action::Pruned).with_detail(summary.clone()))
    })
}

/// Prepares the tables for the events of the coming days. Returns the number of new partitions.
///
/// # Errors
///
/// If the store fails. Then new events are stored in a default partition, and are deleted one by one.
pub fn create_event_partitions(
    store: &dyn Store,
    periods: RetentionPeriods,
    now: Timestamp,
) -> Result<usize, StoreError> {
    store.transaction(|tx| tx.create_event_partitions(now, periods.events))
}

/// Deletes the idempotency records that have expired, and returns their number.
///
/// # Errors
///
/// If the store fails. Rows that earlier steps deleted stay deleted.
pub fn prune_idempotency_records(
    store: &dyn Store,
    now: Timestamp,
    pacer: &mut dyn Pacer,
) -> Result<usize, StoreError> {
    let mut deleted = 0;
    prune_all(pacer, &mut deleted, |limit| store.transaction(|tx| tx.prune_idempotency_records(now, limit)))?;
    Ok(deleted)
}

/// Executes steps until one deletes nothing. Adds the number of deleted rows to `total`.
fn prune_all(
    pacer: &mut dyn Pacer,
    total: &mut usize,
    prune: impl Fn(i64) -> Result<usize, StoreError>,
) -> Result<(), StoreError> {
    pacer.begin_phase();
    loop {
        let deleted = run_step(pacer, &prune)?;
        if deleted == 0 {
            return Ok(());
        }
        *total += deleted;
    }
}

/// Stores the time before which events may be missing, unless a later time is stored, so that verification does not
/// report them. Must be called before events are deleted. A stored time after `now` was stored while the clock was
/// ahead, and is replaced by `now`.
pub(crate) fn record_events_pruned_before<T: Settings + ?Sized>(
    tx: &mut T,
    before: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), StoreError> {
    loop {
        let text = tx.get_setting(Setting::EventsPrunedBefore)?;
        let stored = text.as_ref().and_then(|value| value.parse::<i64>().ok());
        let latest = stored.max(before.map(Timestamp::unix_micros)).map(|time| time.min(now.unix_micros()));
        let Some(latest) = latest.filter(|latest| stored != Some(*latest)) else { return Ok(()) };
        // Another instance may have stored a later time meanwhile.
        if tx.replace_setting(Setting::EventsPrunedBefore, text.as_deref(), &latest.to_string())? {
            return Ok(());
        }
    }
}

fn drop_expired_event_partitions(
    store: &dyn Store,
    before: Timestamp,
    pacer: &mut dyn Pacer,
    dropped: &mut usize,
) -> Result<(), StoreError> {
    pacer.begin_phase();
    while run_step(pacer, |_| store.transaction(|tx| tx.drop_expired_event_partition(before)))? {
        *dropped += 1;
    }
    Ok(())
}

fn prune_events(
    store: &dyn Store,
    before: Timestamp,
    pacer: &mut dyn Pacer,
    total: &mut usize,
) -> Result<(), StoreError> {
    pacer.begin_phase();
    let mut after = None;
    loop {
        let (deleted, last) =
            run_step(pacer, |limit| store.transaction(|tx| tx.prune_events(before, after, limit)))?;
        *total += deleted;
        if last.is_none() {
            return Ok(());
        }
        after = last;
    }
}

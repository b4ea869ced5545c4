//! Metrics of the latest verification, the latest prune and the latest backup. They come from the database, so every
//! instance reports the same values. A metric is absent until there is something to report.

use guerdon_domain::ports::{Store, StoreExt as _, Timestamp};
use metrics::{Unit, describe_gauge, gauge};

use super::to_gauge;
use crate::maintenance::LatestRecords;

const VERIFICATION_TIME: &str = "guerdon_verify_last_run_timestamp_seconds";
const VERIFICATION_DURATION: &str = "guerdon_verify_last_run_duration_seconds";
const VERIFICATION_VIOLATIONS: &str = "guerdon_verify_violations";
const PRUNE_TIME: &str = "guerdon_prune_last_run_timestamp_seconds";
const PRUNE_LONGEST_STEP: &str = "guerdon_prune_longest_step_seconds";
const PRUNE_DELETED: &str = "guerdon_prune_deleted";
const BACKUP_TIME: &str = "guerdon_backup_last_success_timestamp_seconds";

pub(super) fn describe_upkeep_metrics() {
    describe_gauge!(
        VERIFICATION_TIME,
        Unit::Seconds,
        "When the ledger was last verified, in seconds since 1970"
    );
    describe_gauge!(VERIFICATION_DURATION, Unit::Seconds, "How long the last verification took");
    describe_gauge!(VERIFICATION_VIOLATIONS, "Violations found by the last verification: must always be 0");
    describe_gauge!(PRUNE_TIME, Unit::Seconds, "When the latest prune ended, in seconds since 1970");
    describe_gauge!(PRUNE_LONGEST_STEP, Unit::Seconds, "The longest step of the latest prune");
    describe_gauge!(PRUNE_DELETED, "What the latest prune deleted");
    describe_gauge!(BACKUP_TIME, Unit::Seconds, "When the last recorded backup ended, in seconds since 1970");
}

/// Reads the latest verification, prune and backup.
pub(super) fn refresh_upkeep_metrics(store: &dyn Store) {
    let found = store.read_snapshot(LatestRecords::load);
    let Ok(LatestRecords { verification, prune, backup_at }) = found else { return }; // the next run tries again
    if let Some(record) = verification {
        if let Some(at) = record.ended_at() {
            gauge!(VERIFICATION_TIME).set(unix_seconds(at));
        }
        gauge!(VERIFICATION_DURATION).set(record.duration().as_secs_f64());
        gauge!(VERIFICATION_VIOLATIONS).set(to_gauge(record.violations));
    }
    if let Some(record) = prune {
        if let Some(at) = record.ended_at() {
            gauge!(PRUNE_TIME).set(unix_seconds(at));
        }
        gauge!(PRUNE_LONGEST_STEP).set(record.longest_step().as_secs_f64());
        let deleted = record.deleted;
        for (kind, count) in [
            ("event_partitions", deleted.event_partitions),
            ("events", deleted.events),
            ("mails", deleted.mails),
            ("idempotency_records", deleted.idempotency_records),
        ] {
            gauge!(PRUNE_DELETED, "kind" => kind).set(to_gauge(count));
        }
    }
    if let Some(at) = backup_at {
        gauge!(BACKUP_TIME).set(unix_seconds(at));
    }
}

fn unix_seconds(at: Timestamp) -> u32 {
    u32::try_from(at.unix_micros() / 1_000_000).unwrap_or(0)
}

//! Checks of the tables that grow with the ledger, range by range. Each check compares a row with rows that have the
//! same id or were committed no later, in the snapshot of its range, so a later range can use a later snapshot.

use guerdon_domain::audit::{AuditOptions, Findings};
use guerdon_domain::ports::StoreError;
use uuid::Uuid;

use super::id_range::IdRange;
use super::{Check, SnapshotTimer, Unit, deliveries, event_coverage, id_as_text, look_up_rows_by_index};
use crate::rows::kind;

/// How far the ranges have been checked.
#[derive(Debug, Default)]
pub(super) struct RangesProgress {
    /// The last id of the ranges that were checked.
    checked_to: Option<Uuid>,
    /// The number of events without a journal entry in these ranges.
    orphaned_events: i64,
    pub(super) is_complete: bool,
}

impl Unit<'_> {
    /// Continues after the last range that was checked.
    pub(super) fn audit_ranges(
        &mut self,
        progress: &mut RangesProgress,
        timer: &SnapshotTimer<'_>,
        options: &AuditOptions<'_>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        self.query(look_up_rows_by_index)?;
        let retained = self.retained_period(options.now)?;
        loop {
            self.record_failure(options.pacer.ensure_running())?;
            let range = self.next_id_range(progress.checked_to)?;
            for (invariant, query) in range_checks(&range, options) {
                self.audit_table(invariant, &query, findings)?;
            }
            progress.orphaned_events += self.audit_event_coverage(&range, retained, findings)?;
            progress.checked_to = range.last;
            if range.last.is_none() {
                break;
            }
            if timer.is_over() {
                return Ok(());
            }
        }
        progress.is_complete = true;
        findings.require(progress.orphaned_events == 0, "event's journal entry", || {
            format!("number of events without a journal entry: {}", progress.orphaned_events)
        });
        Ok(())
    }
}

fn range_checks(range: &IdRange, options: &AuditOptions<'_>) -> Vec<Check> {
    let mut checks = orphan_checks(range);
    checks.push(occasion_check(range));
    checks.push(event_coverage::erasure_check(range));
    checks.extend(deliveries::delivery_checks(range));
    checks.extend(deliveries::attempt_checks(range, options));
    checks
}

/// Checks that every transfer and every recognition has a journal entry, so that the check of the journal reads it.
fn orphan_checks(range: &IdRange) -> Vec<Check> {
    let entry = |row: &str| id_as_text(&format!("{row}.journal_entry_id"));
    vec![
        (
            "transfer's journal entry",
            format!(
                "SELECT 'transfer ' || t.leg || ' has no journal entry ' || {} AS detail FROM transfers AS t \
                 LEFT JOIN journal_entries AS j ON j.id = t.journal_entry_id WHERE j.id IS NULL AND {}",
                entry("t"),
                range.contains("t.journal_entry_id")
            ),
        ),
        (
            "recognition's journal entry",
            format!(
                "SELECT 'recognition ' || {} || ' has no journal entry ' || {} AS detail FROM recognitions AS r \
                 LEFT JOIN journal_entries AS j ON j.id = r.journal_entry_id WHERE j.id IS NULL AND {}",
                id_as_text("r.id"),
                entry("r"),
                range.contains("r.id")
            ),
        ),
    ]
}

/// Checks that every recognition has an occasion of its company, or a global one.
fn occasion_check(range: &IdRange) -> Check {
    (
        "occasion of a recognition",
        format!(
            "SELECT 'the occasion ' || {} || ' of journal entry ' || {} || ' is missing or belongs to another company' \
             AS detail FROM journal_entries AS j LEFT JOIN occasions AS o ON o.id = j.occasion_id \
             AND (o.company_id IS NULL OR o.company_id = j.company_id) WHERE j.kind = {} AND o.id IS NULL AND {}",
            id_as_text("j.occasion_id"),
            id_as_text("j.id"),
            kind::RECOGNITION,
            range.contains("j.id")
        ),
    )
}

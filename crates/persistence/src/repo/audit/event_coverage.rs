//! Checks that everything that must be reported to a provider has an event, unless the event is old enough to
//! be deleted, and that no event lacks a journal entry.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::audit::Findings;
use guerdon_domain::audit_log::Action;
use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{ReadSettings as _, Setting, StoreError, Timestamp};

use super::id_range::IdRange;
use super::{Check, Unit, id_as_text, timestamp_literal};
use crate::rows::{DbTimestamp, kind};

/// The period whose events have not been deleted. An event with a time after `until`, which is now, was created while
/// the clock was ahead, and may have been deleted then.
#[derive(Clone, Copy)]
pub(super) struct RetainedPeriod {
    since: DbTimestamp,
    until: DbTimestamp,
}

/// Rows that must have an event, and the condition under which the event does not match.
struct EventCoverage {
    /// Joins the journal entries `j`, the subject with the id `id`, and its event `e`.
    from: String,
    what: &'static str,
    id: &'static str,
    mismatch: String,
}

impl Unit<'_> {
    /// Checks that the recorded time of the latest pruning, before which events may be missing, is not in the future.
    pub(super) fn audit_pruning(
        &mut self,
        now: Timestamp,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let retained = self.retained_period(now)?;
        findings.require(retained.is_none_or(|retained| retained.since.0 <= retained.until.0), "pruning", || {
            "the recorded time of the latest pruning is in the future: the clock was ahead, or events may have been \
             deleted by hand; `guerdon prune` corrects the time"
                .to_owned()
        });
        Ok(())
    }

    /// The period whose events have not been deleted; `None` if no events were deleted.
    pub(super) fn retained_period(&mut self, now: Timestamp) -> Result<Option<RetainedPeriod>, StoreError> {
        let pruned = self.get_setting(Setting::EventsPrunedBefore)?;
        let since = pruned.and_then(|value| Timestamp::from_unix_micros(value.parse().ok()?));
        Ok(since.map(|since| RetainedPeriod { since: DbTimestamp(since), until: DbTimestamp(now) }))
    }

    /// Checks the rows with the ids of a range. Returns how many events in the range have no journal entry.
    pub(super) fn audit_event_coverage(
        &mut self,
        range: &IdRange,
        retained: Option<RetainedPeriod>,
        findings: &mut Findings,
    ) -> Result<i64, StoreError> {
        let mut expected_count = 0;
        for EventCoverage { from, what, id, mismatch } in
            [recognition_coverage(range, retained), entry_coverage(range, retained)]
        {
            let counts = format!("SELECT COUNT(e.id), COUNT(CASE WHEN {mismatch} THEN 1 END) FROM {from}");
            let (event_count, mismatch_count): (i64, i64) =
                self.query(|conn| sql::<(BigInt, BigInt)>(&counts).get_result(conn))?;
            expected_count += event_count;
            if mismatch_count > 0 {
                let text = id_as_text(id);
                let query = format!(
                    "SELECT '{what} ' || {text} || ' has no event, or one that differs from it' AS detail FROM {from} AND ({mismatch})"
                );
                self.audit_table("events of a journal entry", &query, findings)?;
            }
        }
        let count = format!("SELECT COUNT(*) FROM events AS e WHERE {}", range.contains("e.id"));
        let event_count: i64 = self.query(|conn| sql::<BigInt>(&count).get_result(conn))?;
        Ok(event_count - expected_count)
    }
}

/// Checks that a body was changed only if a user of the company was erased.
pub(super) fn erasure_check(range: &IdRange) -> Check {
    (
        "erased event",
        format!(
            "SELECT 'the body of event ' || {} || ' was changed, but no user of its company was erased' AS detail \
             FROM events AS e WHERE e.original_digest IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM audit_entries AS a WHERE a.company_id = e.company_id AND a.action = {}) AND {}",
            id_as_text("e.id"),
            Action::UserErased.code(),
            range.contains("e.id")
        ),
    )
}

/// Received recognitions.
fn recognition_coverage(range: &IdRange, retained: Option<RetainedPeriod>) -> EventCoverage {
    let kind = EventKind::RecognitionReceived.code();
    EventCoverage {
        // CROSS makes SQLite start with the recognitions of the range.
        from: format!(
            "recognitions AS r CROSS JOIN journal_entries AS j LEFT JOIN events AS e ON e.id = r.id \
             WHERE j.id = r.journal_entry_id AND j.kind = {} AND {}",
            kind::RECOGNITION,
            range.contains("r.id")
        ),
        what: "recognition",
        id: "r.id",
        mismatch: mismatch_condition(retained, &kind.to_string()),
    }
}

/// Journal entries that have one event each.
fn entry_coverage(range: &IdRange, retained: Option<RetainedPeriod>) -> EventCoverage {
    let (mut kinds, mut cases) = (Vec::new(), String::new());
    for event_kind in EventKind::ALL {
        let Some(entry_kind) = kind::reported_by(*event_kind) else { continue };
        kinds.push(entry_kind.to_string());
        cases.push_str(&format!(" WHEN {entry_kind} THEN {}", event_kind.code()));
    }
    EventCoverage {
        from: format!(
            "journal_entries AS j LEFT JOIN events AS e ON e.id = j.id WHERE j.kind IN ({}) AND {}",
            kinds.join(", "),
            range.contains("j.id")
        ),
        what: "journal entry",
        id: "j.id",
        mismatch: mismatch_condition(retained, &format!("CASE j.kind{cases} END")),
    }
}

fn mismatch_condition(retained: Option<RetainedPeriod>, kind: &str) -> String {
    let is_retained = retained.map_or_else(String::new, |RetainedPeriod { since, until }| {
        format!(
            " AND j.created_at >= {} AND j.created_at <= {}",
            timestamp_literal(since),
            timestamp_literal(until)
        )
    });
    format!(
        "(e.id IS NULL{is_retained}) OR e.kind <> {kind} OR e.journal_entry_id <> j.id OR e.company_id <> j.company_id \
         OR e.provider_id <> j.provider_id OR e.created_at <> j.created_at"
    )
}

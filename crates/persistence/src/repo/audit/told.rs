//! Checks that everything that must be reported to a provider has an event, unless the event is old enough to
//! be deleted, and that no event lacks a journal entry.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::audit::Findings;
use guerdon_domain::audit_log::Action;
use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{ReadSettings as _, Setting, StoreError, Timestamp};

use super::super::super::{id_text, moment_text};
use super::super::Unit;
use crate::rows::kind;
use crate::rows::schema::events;
use crate::rows::types::At;

/// Rows that must have an event, and the condition under which the event does not match.
struct Told {
    /// Joins the journal entries `c`, the subject with the id `id`, and its event `e`.
    from: String,
    what: &'static str,
    id: &'static str,
    unfit: String,
}

impl Unit<'_> {
    pub(super) fn audit_told(&mut self, now: Timestamp, findings: &mut Findings) -> Result<(), StoreError> {
        let pruned = self.setting(Setting::EventsPrunedBefore)?;
        let kept = pruned.and_then(|value| value.parse().ok()).and_then(Timestamp::from_unix_micros);
        findings.demand(kept.is_none_or(|kept| kept <= now), "pruning", || {
            "the note on deleted events is later than now: events may have been deleted by hand".to_owned()
        });
        let kept = kept.map(At);
        self.audit_erased(findings)?;
        let mut founded = 0;
        for Told { from, what, id, unfit } in [recognitions(kept), journal_entries(kept)] {
            let counts = format!("SELECT COUNT(e.id), COUNT(CASE WHEN {unfit} THEN 1 END) FROM {from}");
            let (there, unfit_count): (i64, i64) =
                self.query(|conn| sql::<(BigInt, BigInt)>(&counts).get_result(conn))?;
            founded += there;
            if unfit_count > 0 {
                let text = id_text(id);
                let query = format!(
                    "SELECT '{what} ' || {text} || ' has no event, or one that differs from it' AS detail FROM {from} AND ({unfit})"
                );
                self.audit_table("told once", &query, findings)?;
            }
        }
        let there: i64 = self.query(|conn| events::table.count().get_result(conn))?;
        findings.demand(there == founded, "event's cause", || {
            format!("{} events have no cause", there - founded)
        });
        Ok(())
    }
}

impl Unit<'_> {
    /// A body changes only if a user of the company was erased.
    fn audit_erased(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT 'the body of event ' || {} || ' was changed, and no user of its company was erased' AS detail \
             FROM events AS e WHERE e.original_digest IS NOT NULL AND NOT EXISTS \
             (SELECT 1 FROM audit_entries AS a WHERE a.company_id = e.company_id AND a.action = {})",
            id_text("e.id"),
            Action::UserErased.code()
        );
        self.audit_table("erased event", &sql, findings)
    }
}

/// Received recognitions.
fn recognitions(kept: Option<At>) -> Told {
    let kind = EventKind::RecognitionReceived.code();
    Told {
        // CROSS makes SQLite read the rows in the order in which they are stored.
        from: format!(
            "journal_entries AS c CROSS JOIN recognitions AS r LEFT JOIN events AS e ON e.id = r.id \
             WHERE r.journal_entry_id = c.id AND c.kind = {}",
            kind::SENDING
        ),
        what: "recognition",
        id: "r.id",
        unfit: unfit(kept, &kind.to_string()),
    }
}

/// Journal entries that have one event each.
fn journal_entries(kept: Option<At>) -> Told {
    let (mut kinds, mut cases) = (Vec::new(), String::new());
    for it in EventKind::ALL {
        let cause = match it {
            EventKind::RecognitionReceived => continue,
            EventKind::RecognitionUpdated => kind::AMENDMENT,
            EventKind::RedemptionCreated => kind::REDEMPTION,
        };
        kinds.push(cause.to_string());
        cases.push_str(&format!(" WHEN {cause} THEN {}", it.code()));
    }
    Told {
        from: format!(
            "journal_entries AS c LEFT JOIN events AS e ON e.id = c.id WHERE c.kind IN ({})",
            kinds.join(", ")
        ),
        what: "journal entry",
        id: "c.id",
        unfit: unfit(kept, &format!("CASE c.kind{cases} END")),
    }
}

fn unfit(kept: Option<At>, kind: &str) -> String {
    let kept = kept.map_or_else(String::new, |since| format!(" AND c.created_at >= {}", moment_text(since)));
    format!(
        "(e.id IS NULL{kept}) OR e.kind <> {kind} OR e.journal_entry_id <> c.id OR e.company_id <> c.company_id \
         OR e.provider_id <> c.provider_id OR e.created_at <> c.created_at"
    )
}

//! `guerdon verify` recomputes the ledger. Each part uses one snapshot, and memory that does not grow with
//! the ledger.
//!
//! `journal` reads the journal in its order with transfers, recognitions and `events`, and `following`
//! recomputes the chain of seals and the audit log with it; `balances` reads the accounts with their entries;
//! `states` and `schedules` compare settings with the audit log; `tables` and `told` run single queries.

mod alerts;
mod balances;
mod counting;
mod deliveries;
mod events;
mod following;
mod journal;
mod pages;
mod schedules;
mod sealing;
mod states;
mod tables;
mod told;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::audit::{Examination, Findings, Part};
use guerdon_domain::ports::{Audit, PendingSeal, Seal, Seals, StoreError, Timestamp};

use super::Unit;
use crate::rows::SealRow;
use crate::rows::schema::seals;

/// The name of an invariant, and a query for its violations (one column, `detail`).
type Check = (&'static str, String);

impl Audit for Unit<'_> {
    fn audit(&mut self, part: Part, asked: &Examination<'_>) -> Result<Findings, StoreError> {
        self.query(super::super::lift_time_limit)?;
        let mut findings = Findings::default();
        match part {
            Part::Storage => self.audit_storage(&mut findings)?,
            Part::Balances => self.audit_balances(&mut findings)?,
            Part::Journal => self.audit_journal(asked, &mut findings)?,
            Part::Tables => self.audit_tables(asked, &mut findings)?,
        }
        Ok(findings)
    }

    fn unbalanced_companies(&mut self) -> Result<i64, StoreError> {
        self.query(super::super::lift_time_limit)?;
        let sql = format!("(SELECT count(*) FROM ({}) AS unbalanced)", tables::UNBALANCED);
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&sql)).get_result(conn))
    }

    fn last_seal(&mut self) -> Result<Option<Seal>, StoreError> {
        let found = self.latest_seal()?;
        self.keep(found.map(|found| sealing::read(&found)).transpose())
    }

    fn has_unsealed(&mut self) -> Result<bool, StoreError> {
        let (journal_entries, entries) =
            self.latest_seal()?.map_or((i64::MIN, i64::MIN), |seal| (seal.journal_before, seal.audit_before));
        Ok(!self.journal_entries_after(journal_entries, None, 1)?.is_empty()
            || !self.entries_in(entries..i64::MAX, None, 1)?.is_empty())
    }

    fn next_seal(&mut self, now: Timestamp, rows_max: i64) -> Result<Option<PendingSeal>, StoreError> {
        self.make_seal(now, rows_max)
    }
}

impl Seals for Unit<'_> {
    fn insert_seal(&mut self, it: &PendingSeal) -> Result<bool, StoreError> {
        let row = SealRow::of(it);
        let inserted = self.query(|conn| {
            diesel::insert_into(seals::table).values(&row).on_conflict_do_nothing().execute(conn)
        })?;
        if inserted == 1 {
            self.add_counted(&it.counted)?;
        }
        Ok(inserted == 1)
    }
}

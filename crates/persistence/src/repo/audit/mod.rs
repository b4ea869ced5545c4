//! `guerdon verify` recomputes the ledger. Each part reads from one snapshot, and its memory does not grow with the
//! ledger.
//!
//! `journal` reads the journal in order with transfers, recognitions and `events`, and `seal_chain`
//! recomputes the chain of seals and the audit log with it; `balances` reads the accounts with their entries;
//! `audited_states` and `schedules` compare settings with the audit log; `tables` and `event_coverage` run
//! single queries.

mod alerts;
mod audited_states;
mod balances;
mod company;
mod deliveries;
mod event_coverage;
mod events;
mod journal;
mod pages;
mod schedules;
mod seal_chain;
mod sealing;
mod statistics_counter;
mod tables;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::audit::{AuditOptions, AuditPacer, AuditPart, Findings};
use guerdon_domain::ports::{Audit, PendingSeal, Seal, Seals, StoreError, Timestamp};

use super::Unit;
use crate::rows::SealRow;
use crate::rows::schema::seals;

/// The name of an invariant, and a query for its violations (one column, `detail`).
type Check = (&'static str, String);

impl Audit for Unit<'_> {
    fn audit_part(&mut self, part: AuditPart, options: &AuditOptions<'_>) -> Result<Findings, StoreError> {
        self.query(super::super::disable_statement_timeout)?;
        if matches!(part, AuditPart::Journal | AuditPart::Tables) {
            self.query(super::super::keep_event_partitions)?;
        }
        let mut findings = Findings::default();
        match part {
            AuditPart::Storage => self.audit_storage(options.pacer, &mut findings)?,
            AuditPart::Balances => self.audit_balances(options.pacer, &mut findings)?,
            AuditPart::Journal => self.audit_journal(options, &mut findings)?,
            AuditPart::Tables => self.audit_tables(options, &mut findings)?,
        }
        Ok(findings)
    }

    fn unbalanced_companies(&mut self) -> Result<i64, StoreError> {
        self.query(super::super::disable_statement_timeout)?;
        let sql = format!("(SELECT count(*) FROM ({}) AS unbalanced)", tables::UNBALANCED);
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&sql)).get_result(conn))
    }

    fn last_seal(&mut self) -> Result<Option<Seal>, StoreError> {
        let found = self.load_latest_seal()?;
        self.record_failure(found.map(|found| sealing::to_seal(&found)).transpose())
    }

    fn has_unsealed_rows(&mut self) -> Result<bool, StoreError> {
        let (journal_entries, entries) = self
            .load_latest_seal()?
            .map_or((i64::MIN, i64::MIN), |seal| (seal.journal_before, seal.audit_before));
        Ok(!self.load_entries_after(journal_entries, None, 1)?.is_empty()
            || !self.load_audit_entries(entries..i64::MAX, None, 1)?.is_empty())
    }

    fn next_seal(&mut self, now: Timestamp, rows_max: i64) -> Result<Option<PendingSeal>, StoreError> {
        self.compute_next_seal(now, rows_max)
    }
}

impl Unit<'_> {
    /// Lets other work run between two pages or statements. Fails if the audit is to end.
    fn pause_audit(&mut self, pacer: &dyn AuditPacer) -> Result<(), StoreError> {
        self.record_failure(pacer.pause())
    }
}

impl Seals for Unit<'_> {
    fn insert_seal(&mut self, seal: &PendingSeal) -> Result<bool, StoreError> {
        let row = SealRow::from_pending_seal(seal);
        let inserted = self.query(|conn| {
            diesel::insert_into(seals::table).values(&row).on_conflict_do_nothing().execute(conn)
        })?;
        if inserted == 1 {
            self.add_statistics_delta(&seal.statistics)?;
        }
        Ok(inserted == 1)
    }
}

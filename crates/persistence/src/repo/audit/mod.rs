//! `guerdon verify` recomputes the ledger. The memory of each part does not grow with the ledger.
//!
//! A snapshot that is used for minutes slows a busy service down: PostgreSQL cannot remove the old versions of rows
//! that change with each payment, and every read of such a row visits them. Therefore each part uses a series of short
//! snapshots. It starts a new snapshot only where later changes cannot contradict earlier checks: between two accounts
//! or two entries of an account (`balances`), in the sealed part of the journal (`journal`), between two ranges of ids
//! (`growing_tables`), and between two checks (`storage` and `tables`).
//!
//! `journal` reads the journal in order with transfers, recognitions and `events`, and `seal_chain`
//! recomputes the chain of seals and the audit log with it; `balances` reads the accounts with their entries;
//! `growing_tables` checks the tables that grow with the ledger against each other, `tables` checks the others;
//! `audited_states` and `schedules` compare settings with the audit log.

mod alerts;
mod audited_states;
mod balances;
mod company;
mod deliveries;
mod event_coverage;
mod events;
mod growing_tables;
mod id_range;
mod journal;
mod pages;
mod schedules;
mod seal_chain;
mod sealing;
mod statistics_counter;
mod tables;

use std::time::Instant;

use diesel::dsl::max;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::audit::{AuditOptions, AuditPacer, AuditPart, Findings};
use guerdon_domain::ports::{Audit, LedgerEnd, PendingSeal, Seal, Seals, StoreError, Timestamp};

use self::balances::BalancesProgress;
use self::journal::JournalProgress;
use self::tables::TablesProgress;
use super::super::{
    account_entries_from, audit_log_complete_before, id_as_text, journal_complete_before,
    look_up_rows_by_index, run_storage_check, storage_checks,
};
use super::{Conn, Unit, id_literal, timestamp_literal};
use crate::rows::SealRow;
use crate::rows::schema::{audit_entries, journal_entries, seals};

/// The name of an invariant, and a query for its violations (one column, `detail`).
type Check = (&'static str, String);

/// How far a part has been checked.
enum PartProgress {
    /// The number of checks that are complete.
    Storage(usize),
    Balances(BalancesProgress),
    /// `None` before the first snapshot.
    Journal(Option<Box<JournalProgress>>),
    Tables(TablesProgress),
}

impl PartProgress {
    fn at_start_of(part: AuditPart) -> Self {
        match part {
            AuditPart::Storage => Self::Storage(0),
            AuditPart::Balances => Self::Balances(BalancesProgress::default()),
            AuditPart::Journal => Self::Journal(None),
            AuditPart::Tables => Self::Tables(TablesProgress::default()),
        }
    }
}

/// Whether a part is complete, or continues in another snapshot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartStatus {
    Incomplete,
    Complete,
}

/// When a snapshot was taken, and the pacer that determines how long it is used.
struct SnapshotTimer<'a> {
    began_at: Instant,
    pacer: &'a dyn AuditPacer,
}

impl SnapshotTimer<'_> {
    fn is_over(&self) -> bool {
        self.pacer.is_snapshot_too_old(self.began_at.elapsed())
    }
}

/// Runs work on a new snapshot.
type RunOnSnapshot<'a> = &'a dyn Fn(&mut dyn FnMut(&mut Unit<'_>)) -> Result<(), StoreError>;

/// Checks a part in as many snapshots as it takes.
pub(crate) fn audit_part(
    run_on_snapshot: RunOnSnapshot<'_>,
    part: AuditPart,
    options: &AuditOptions<'_>,
) -> Result<Findings, StoreError> {
    let (mut progress, mut findings) = (PartProgress::at_start_of(part), Findings::default());
    let (started_at, mut status) = (Instant::now(), PartStatus::Incomplete);
    while status == PartStatus::Incomplete {
        options.pacer.pause()?;
        let options = options.after(started_at.elapsed());
        let mut result = Err(StoreError::Broken("the unit of work did not run".to_owned()));
        run_on_snapshot(&mut |unit| result = unit.continue_audit(&mut progress, &options, &mut findings))?;
        status = result?;
    }
    Ok(findings)
}

impl Unit<'_> {
    /// Continues the check of a part in the snapshot of this unit.
    fn continue_audit(
        &mut self,
        progress: &mut PartProgress,
        options: &AuditOptions<'_>,
        findings: &mut Findings,
    ) -> Result<PartStatus, StoreError> {
        self.query(|conn| super::set_statement_timeout(conn, options.statement_duration_max))?;
        if matches!(progress, PartProgress::Journal(_) | PartProgress::Tables(_)) {
            self.query(super::keep_event_partitions)?;
        }
        let timer = SnapshotTimer { began_at: Instant::now(), pacer: options.pacer };
        match progress {
            PartProgress::Storage(checked) => self.audit_storage(checked, &timer, findings),
            PartProgress::Balances(progress) => self.audit_balances(progress, &timer, findings),
            PartProgress::Journal(progress) => self.audit_journal(progress, &timer, options, findings),
            PartProgress::Tables(progress) => self.audit_tables(progress, &timer, options, findings),
        }
    }
}

impl Audit for Unit<'_> {
    fn unbalanced_companies(&mut self) -> Result<i64, StoreError> {
        self.query(super::disable_statement_timeout)?;
        let sql = format!("(SELECT count(*) FROM ({}) AS unbalanced)", tables::UNBALANCED);
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&sql)).get_result(conn))
    }

    fn last_seal(&mut self) -> Result<Option<Seal>, StoreError> {
        let found = self.load_latest_seal()?;
        self.record_failure(found.map(|found| sealing::to_seal(&found)).transpose())
    }

    fn ledger_end(&mut self) -> Result<LedgerEnd, StoreError> {
        let after = |last: Option<i64>| last.map_or(i64::MIN, |last| last + 1);
        let journal = self.query(|conn| {
            journal_entries::table.select(max(journal_entries::position)).get_result(conn).map(after)
        })?;
        let audit_log = self.query(|conn| {
            audit_entries::table.select(max(audit_entries::position)).get_result(conn).map(after)
        })?;
        Ok(LedgerEnd { journal, audit_log })
    }

    fn has_unsealed_rows_before(&mut self, end: LedgerEnd) -> Result<bool, StoreError> {
        let (journal_from, audit_from) = self
            .load_latest_seal()?
            .map_or((i64::MIN, i64::MIN), |seal| (seal.journal_before, seal.audit_before));
        let next_entries = self.load_entries_after(journal_from, None, 1)?;
        Ok(next_entries.first().is_some_and(|(position, _)| *position < end.journal)
            || !self.load_audit_entries(audit_from..end.audit_log, None, 1)?.is_empty())
    }

    fn next_seal(&mut self, now: Timestamp, rows_max: i64) -> Result<Option<PendingSeal>, StoreError> {
        self.compute_next_seal(now, rows_max)
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

//! `guerdon verify`: the ledger reckoned anew, each part on one snapshot, in memory that does not grow with it.
//!
//! `journal` walks the causes in their order with their transfers and recognitions, and `following` the chain of seals
//! beside it; `balances` walks the accounts with their movements; `tables` and `told` ask what
//! single queries tell.

mod alerts;
mod balances;
mod counting;
mod following;
mod journal;
mod pages;
mod sealing;
mod tables;
mod told;

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::audit::{Findings, Part};
use guerdon_domain::ports::{Audit, PendingSeal, Seal, Seals, StoreError, Timestamp};

use super::Unit;
use crate::rows::SealRow;
use crate::rows::schema::seals;
use crate::rows::seals::FORMAT;
use crate::rows::types::At;

impl Audit for Unit<'_> {
    fn audit(&mut self, part: Part, head: Option<[u8; 32]>) -> Result<Findings, StoreError> {
        self.query(super::super::lift_time_limit)?;
        let mut findings = Findings::default();
        match part {
            Part::Storage => self.audit_storage(&mut findings)?,
            Part::Balances => self.audit_balances(&mut findings)?,
            Part::Journal => self.audit_journal(head, &mut findings)?,
            Part::Tables => self.audit_tables(&mut findings)?,
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
        self.keep(found.map(|it| sealing::read(&it)).transpose())
    }

    fn has_unsealed(&mut self) -> Result<bool, StoreError> {
        let from = self.latest_seal()?.map_or(i64::MIN, |it| it.before);
        Ok(!self.causes_after(from, None, 1)?.is_empty())
    }

    fn next_seal(&mut self, now: Timestamp, causes_max: i64) -> Result<Option<PendingSeal>, StoreError> {
        self.make_seal(now, causes_max)
    }
}

impl Seals for Unit<'_> {
    fn insert_seal(&mut self, it: &PendingSeal) -> Result<bool, StoreError> {
        let row = SealRow {
            sequence: it.seal.sequence,
            format: FORMAT,
            before: it.before,
            causes: it.causes,
            head: it.seal.head.to_vec(),
            created_at: At(it.seal.created_at),
        };
        let inserted = self.query(|conn| {
            diesel::insert_into(seals::table).values(&row).on_conflict_do_nothing().execute(conn)
        })?;
        if inserted == 1 {
            self.add_counted(&it.counted)?;
        }
        Ok(inserted == 1)
    }
}

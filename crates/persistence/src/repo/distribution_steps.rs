//! The remaining work of distributions in steps.

use std::collections::HashMap;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable};
use guerdon_domain::ledger::{DistributionProgress, DistributionStep};
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{DistributionsInTransit, ReadDistributions, StoreError};
use guerdon_domain::values::{CompanyId, JournalEntryId, ProviderId, checked_cast};
use guerdon_domain::wallets::AccountKind;

use super::{Unit, lock_row};
use crate::rows::schema::{
    distribution_steps as steps, distributions_under_way as under_way, journal_entries,
};
use crate::rows::{DistributionStepRow, Id, Identifier, JournalEntryRow, RowReader};
use crate::statement_chunks::split_into_statements;

/// A distribution that has not ended, with its company and provider if the journal has its entry.
type Unfinished = (Id<JournalEntryId>, Option<Id<CompanyId>>, Option<Id<ProviderId>>);

/// The maximum number of steps of one statement.
const STEPS_PER_STATEMENT: usize = 64;

impl ReadDistributions for Unit<'_> {
    fn distributions_in_transit(&mut self) -> Result<DistributionsInTransit, StoreError> {
        let unfinished = "SELECT u.id, x.company_id, x.provider_id FROM distributions_under_way AS u \
                          LEFT JOIN journal_entries AS x ON x.id = u.id ORDER BY u.id";
        let unfinished = sql::<(Identifier, Nullable<Identifier>, Nullable<Identifier>)>(unfinished);
        let distributions: Vec<Unfinished> = self.query(|conn| unfinished.get_results(conn))?;
        if distributions.is_empty() {
            return Ok(DistributionsInTransit::default());
        }
        let balances = format!(
            "SELECT a.balance, c.points_per_dollar FROM accounts AS a JOIN companies AS c ON c.id = a.owner_id \
             WHERE a.kind = {} AND a.owner_id IN (SELECT x.company_id FROM journal_entries AS x \
             JOIN distributions_under_way AS u ON u.id = x.id)",
            AccountKind::Transit.code()
        );
        let balances: Vec<(i64, i32)> =
            self.query(|conn| sql::<(BigInt, Integer)>(&balances).get_results(conn))?;
        let points = balances.into_iter().filter_map(|(balance_nanodollars, points_per_dollar)| {
            let rate = PointsPerDollar::new(points_per_dollar.into())?;
            Some(rate.shown_points(Amount::from_nanodollars(balance_nanodollars)).get())
        });
        let distributions = distributions.into_iter().map(|(id, company, provider)| {
            (id.0, company.zip(provider).map(|(company, provider)| (company.0, provider.0)))
        });
        Ok(DistributionsInTransit { points: points.sum(), distributions: distributions.collect() })
    }
}

impl Unit<'_> {
    /// Locks a distribution in steps and reads its next step.
    pub(super) fn load_next_step(
        &mut self,
        entry_id: JournalEntryId,
    ) -> Result<Option<DistributionStep>, StoreError> {
        let id = Id(entry_id);
        self.query(|conn| lock_row(conn, "distributions_under_way", id))?;
        let left: Option<i32> = self.query(|conn| {
            under_way::table.find(id).select(under_way::unpaid_receivers).get_result(conn).optional()
        })?;
        let Some(unpaid_receivers) = left else { return Ok(None) };
        let entry: JournalEntryRow<'static> = self.query(|conn| {
            journal_entries::table
                .filter(journal_entries::id.eq(id))
                .select(JournalEntryRow::as_select())
                .get_result(conn)
        })?;
        let entry = self.record_failure(entry.to_journal_entry())?;
        let next: Option<DistributionStepRow> = self.query(|conn| {
            steps::table
                .filter(steps::journal_entry_id.eq(id))
                .order(steps::leg)
                .limit(1)
                .select(DistributionStepRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        let reader = RowReader { table: "distributions_under_way", id: &id.0 };
        let Some(next) = next else {
            let unpaid = self
                .record_failure(reader.require_valid("unpaid_receivers", unpaid_receivers.try_into().ok()))?;
            return Ok(Some(DistributionStep::Return { entry, unpaid }));
        };
        let users = self.record_failure(next.to_receivers())?;
        let first_leg = self.record_failure(reader.require_valid("leg", next.leg.try_into().ok()))?;
        Ok(Some(DistributionStep::Pay { entry, first_leg, users }))
    }

    /// Records the progress of a distribution in steps.
    pub(super) fn record_progress(
        &mut self,
        entry_id: JournalEntryId,
        progress: &DistributionProgress,
    ) -> Result<(), StoreError> {
        let id = Id(entry_id);
        match progress {
            DistributionProgress::Started { receivers, receivers_per_step } => {
                let row = (under_way::id.eq(id), under_way::unpaid_receivers.eq(0));
                self.query(|conn| diesel::insert_into(under_way::table).values(row).execute(conn))?;
                let parts = receivers.chunks(*receivers_per_step).enumerate();
                let rows = parts.map(|(number, part)| {
                    DistributionStepRow::from_receivers(
                        entry_id,
                        checked_cast(number * receivers_per_step + 1),
                        part,
                    )
                });
                for slice in split_into_statements(
                    &rows.collect::<Vec<_>>(),
                    STEPS_PER_STATEMENT,
                    DistributionStepRow::byte_count,
                ) {
                    self.query(|conn| diesel::insert_into(steps::table).values(slice).execute(conn))?;
                }
            }
            DistributionProgress::StepPaid { first_leg, unpaid } => {
                let (leg, unpaid): (i32, i32) = (checked_cast(*first_leg), checked_cast(*unpaid));
                self.query(|conn| diesel::delete(steps::table.find((id, leg))).execute(conn))?;
                if unpaid > 0 {
                    self.query(|conn| {
                        diesel::update(under_way::table.find(id))
                            .set(under_way::unpaid_receivers.eq(under_way::unpaid_receivers + unpaid))
                            .execute(conn)
                    })?;
                }
            }
            DistributionProgress::Finished => {
                self.query(|conn| diesel::delete(under_way::table.find(id)).execute(conn))?;
            }
        }
        Ok(())
    }

    /// For each distribution in steps that has not ended, the number of receivers still to be paid, plus
    /// those that could not be paid.
    pub(super) fn unpaid_receivers(&mut self) -> Result<HashMap<Id<JournalEntryId>, i64>, StoreError> {
        let query = "SELECT id, unpaid_receivers + COALESCE((SELECT SUM(length(receivers)) FROM distribution_steps \
                     WHERE journal_entry_id = id), 0) / 16 FROM distributions_under_way";
        let found: Vec<(Id<JournalEntryId>, i64)> =
            self.query(|conn| sql::<(Identifier, BigInt)>(query).get_results(conn))?;
        Ok(found.into_iter().collect())
    }
}

//! The remaining work of distributions in steps.

use std::collections::HashMap;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable};
use guerdon_domain::ledger::{DistributionProgress, DistributionStep};
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{ReadDistributions, StoreError, UnfinishedDistributions};
use guerdon_domain::values::{CompanyId, JournalEntryId, ProviderId, checked_cast};
use guerdon_domain::wallets::AccountKind;

use super::{Unit, lock_row};
use crate::rows::schema::{
    distribution_steps as steps, journal_entries, unfinished_distributions as unfinished,
};
use crate::rows::{DistributionStepRow, Id, Identifier, JournalEntryRow, RowReader};
use crate::statement_chunks::split_into_statements;

/// A distribution that has not ended, with its company and provider if the journal has its entry.
type Unfinished = (Id<JournalEntryId>, Option<Id<CompanyId>>, Option<Id<ProviderId>>);

/// The maximum number of steps of one statement.
const STEPS_PER_STATEMENT: usize = 64;

impl ReadDistributions for Unit<'_> {
    fn unfinished_distributions(&mut self) -> Result<UnfinishedDistributions, StoreError> {
        let unfinished = "SELECT u.id, j.company_id, j.provider_id FROM unfinished_distributions AS u \
                          LEFT JOIN journal_entries AS j ON j.id = u.id ORDER BY u.id";
        let unfinished = sql::<(Identifier, Nullable<Identifier>, Nullable<Identifier>)>(unfinished);
        let distributions: Vec<Unfinished> = self.query(|conn| unfinished.get_results(conn))?;
        if distributions.is_empty() {
            return Ok(UnfinishedDistributions::default());
        }
        let balances = format!(
            "SELECT a.balance, c.points_per_dollar FROM accounts AS a JOIN companies AS c ON c.id = a.owner_id \
             WHERE a.kind = {} AND a.owner_id IN (SELECT j.company_id FROM journal_entries AS j \
             JOIN unfinished_distributions AS u ON u.id = j.id)",
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
        Ok(UnfinishedDistributions { points: points.sum(), distributions: distributions.collect() })
    }
}

impl Unit<'_> {
    /// Locks a distribution in steps and reads its next step.
    pub(super) fn lock_next_step(
        &mut self,
        entry_id: JournalEntryId,
    ) -> Result<Option<DistributionStep>, StoreError> {
        let id = Id(entry_id);
        self.query(|conn| lock_row(conn, "unfinished_distributions", id))?;
        let left: Option<i32> = self.query(|conn| {
            unfinished::table.find(id).select(unfinished::unpaid_receivers).get_result(conn).optional()
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
        let reader = RowReader { table: "unfinished_distributions", id: &id.0 };
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
                let row = (unfinished::id.eq(id), unfinished::unpaid_receivers.eq(0));
                self.query(|conn| diesel::insert_into(unfinished::table).values(row).execute(conn))?;
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
                        diesel::update(unfinished::table.find(id))
                            .set(unfinished::unpaid_receivers.eq(unfinished::unpaid_receivers + unpaid))
                            .execute(conn)
                    })?;
                }
            }
            DistributionProgress::Finished => {
                self.query(|conn| diesel::delete(unfinished::table.find(id)).execute(conn))?;
            }
        }
        Ok(())
    }

    /// For each distribution in steps that has not ended, the number of receivers still to be paid, plus
    /// those that could not be paid.
    pub(super) fn unpaid_receivers(&mut self) -> Result<HashMap<Id<JournalEntryId>, i64>, StoreError> {
        let query = "SELECT id, unpaid_receivers + COALESCE((SELECT SUM(length(receivers)) FROM distribution_steps \
                     WHERE journal_entry_id = id), 0) / 16 FROM unfinished_distributions";
        let found: Vec<(Id<JournalEntryId>, i64)> =
            self.query(|conn| sql::<(Identifier, BigInt)>(query).get_results(conn))?;
        Ok(found.into_iter().collect())
    }
}

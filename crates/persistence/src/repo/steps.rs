//! What is still to be done of distributions in several steps.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable};
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{InTransit, ReadSteps, Step, Steps, StoreError};
use guerdon_domain::values::{CauseId, CompanyId, UserId, fit};
use guerdon_domain::wallets::AccountKind;

use super::super::{BLOCKS_OTHERS, lock_row};
use super::Unit;
use crate::rows::schema::{causes, distribution_steps as steps, distributions_under_way as under_way};
use crate::rows::types::{Id, Identifier};
use crate::rows::{CauseRow, Reading, StepRow};

#[derive(QueryableByName)]
struct Waiting {
    #[diesel(sql_type = Identifier)]
    id: Id<CauseId>,
    #[diesel(sql_type = BigInt)]
    receivers: i64,
}

/// A distribution that is not finished.
#[derive(QueryableByName)]
struct UnfinishedRow {
    #[diesel(sql_type = Identifier)]
    id: Id<CauseId>,
    #[diesel(sql_type = Nullable<Identifier>)]
    company_id: Option<Id<CompanyId>>,
}

/// What a company has in transit, in nano-dollars, and its rate.
#[derive(QueryableByName)]
struct HeldRow {
    #[diesel(sql_type = BigInt)]
    balance: i64,
    #[diesel(sql_type = Integer)]
    points_per_dollar: i32,
}

impl ReadSteps for Unit<'_> {
    fn blocks_others(&self) -> bool {
        BLOCKS_OTHERS
    }

    fn in_transit(&mut self) -> Result<InTransit, StoreError> {
        let unfinished = "SELECT u.id, x.company_id FROM distributions_under_way AS u \
                          LEFT JOIN causes AS x ON x.id = u.id ORDER BY u.id";
        let distributions: Vec<UnfinishedRow> =
            self.query(|conn| diesel::sql_query(unfinished).get_results(conn))?;
        if distributions.is_empty() {
            return Ok(InTransit::default());
        }
        let held = format!(
            "SELECT a.balance, c.points_per_dollar FROM accounts AS a JOIN companies AS c ON c.id = a.owner_id \
             WHERE a.kind = {} AND a.owner_id IN (SELECT x.company_id FROM causes AS x \
             JOIN distributions_under_way AS u ON u.id = x.id)",
            AccountKind::Transit.code()
        );
        let held: Vec<HeldRow> = self.query(|conn| diesel::sql_query(held).get_results(conn))?;
        let points = held.iter().filter_map(|it| {
            let rate = PointsPerDollar::new(it.points_per_dollar.into())?;
            Some(rate.points(Amount::from_nanodollars(it.balance)).get())
        });
        let distributions = distributions.iter().map(|it| (it.id.0, it.company_id.map(|it| it.0)));
        Ok(InTransit { points: points.sum(), distributions: distributions.collect() })
    }
}

impl Steps for Unit<'_> {
    fn begin_steps(
        &mut self,
        cause: CauseId,
        receivers: &[UserId],
        each_step: usize,
    ) -> Result<(), StoreError> {
        let id = Id(cause);
        self.query(|conn| {
            diesel::insert_into(under_way::table)
                .values((under_way::id.eq(id), under_way::not_given.eq(0)))
                .execute(conn)
        })?;
        let mut leg = 1;
        for part in receivers.chunks(each_step.max(1)) {
            let row = StepRow::of(cause, leg, part);
            self.query(|conn| diesel::insert_into(steps::table).values(&row).execute(conn))?;
            leg += fit::<i32, _>(part.len());
        }
        Ok(())
    }

    fn next_step(&mut self, cause: CauseId) -> Result<Option<Step>, StoreError> {
        let id = Id(cause);
        self.query(|conn| lock_row(conn, "distributions_under_way", id))?;
        let left: Option<i32> = self.query(|conn| {
            under_way::table.find(id).select(under_way::not_given).get_result(conn).optional()
        })?;
        let Some(not_given) = left else { return Ok(None) };
        let cause: CauseRow<'static> = self.query(|conn| {
            causes::table.filter(causes::id.eq(id)).select(CauseRow::as_select()).get_result(conn)
        })?;
        let cause = self.keep(cause.read())?;
        let next: Option<StepRow> = self.query(|conn| {
            steps::table
                .filter(steps::cause_id.eq(id))
                .order(steps::leg)
                .limit(1)
                .select(StepRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        let reading = Reading { table: "distributions_under_way", id: &id.0 };
        let Some(next) = next else {
            let not_given = self.keep(reading.make("not_given", not_given.try_into().ok()))?;
            return Ok(Some(Step::GiveBack { cause, not_given }));
        };
        let users = self.keep(next.receivers())?;
        let first_leg = self.keep(reading.make("leg", next.leg.try_into().ok()))?;
        Ok(Some(Step::Give { cause, first_leg, users }))
    }

    fn end_step(&mut self, cause: CauseId, first_leg: u32, not_given: u32) -> Result<(), StoreError> {
        let id = Id(cause);
        let number = |it: u32| -> i32 { fit(it) };
        self.query(|conn| diesel::delete(steps::table.find((id, number(first_leg)))).execute(conn))?;
        if not_given > 0 {
            self.query(|conn| {
                diesel::update(under_way::table.find(id))
                    .set(under_way::not_given.eq(under_way::not_given + number(not_given)))
                    .execute(conn)
            })?;
        }
        Ok(())
    }

    fn end_steps(&mut self, cause: CauseId) -> Result<(), StoreError> {
        let id = Id(cause);
        self.query(|conn| diesel::delete(under_way::table.find(id)).execute(conn))?;
        Ok(())
    }
}

impl Unit<'_> {
    /// To how many each distribution that is under way is still to give, those included to whom it could not.
    pub(super) fn waiting(&mut self) -> Result<HashMap<Id<CauseId>, i64>, StoreError> {
        let query = "SELECT id, not_given + COALESCE((SELECT SUM(length(receivers)) FROM distribution_steps \
                     WHERE cause_id = id), 0) / 16 AS receivers FROM distributions_under_way";
        let found: Vec<Waiting> = self.query(|conn| diesel::sql_query(query).get_results(conn))?;
        Ok(found.into_iter().map(|it| (it.id, it.receivers)).collect())
    }
}

//! Journal entries.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::causes::{Act, Cause};
use guerdon_domain::ports::{Causes, ReadCauses, StoreError};
use guerdon_domain::redemptions::Redemption;
use guerdon_domain::values::RedemptionId;

use super::Unit;
use crate::rows::conditions::HAPPENS_ONCE;
use crate::rows::schema::causes;
use crate::rows::types::Id;
use crate::rows::{CauseRow, kind};

impl ReadCauses for Unit<'_> {
    fn redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError> {
        let subject = Id(id);
        let found: Option<CauseRow<'static>> = self.query(|conn| {
            causes::table
                .filter(causes::id.eq(subject).and(causes::kind.eq(kind::REDEMPTION)))
                .select(CauseRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        let Some(cause) = self.keep(found.as_ref().map(CauseRow::read).transpose())? else { return Ok(None) };
        let Act::Redemption { user, points } = cause.act else { return Ok(None) };
        let refunds: i64 = self.query(|conn| {
            causes::table
                .filter(causes::subject_id.eq(Some(subject)))
                .filter(sql::<Bool>(HAPPENS_ONCE))
                .count()
                .get_result(conn)
        })?;
        let amount = cause.rate.amount(points);
        let amount =
            self.keep(amount.ok_or_else(|| StoreError::Broken("an amount is out of range".into())))?;
        Ok(Some(Redemption {
            id,
            company_id: cause.company_id,
            user_id: user,
            points,
            amount,
            created_at: cause.created_at,
            is_refunded: refunds > 0,
        }))
    }
}

impl Causes for Unit<'_> {
    fn record(&mut self, cause: &Cause) -> Result<(), StoreError> {
        let row = CauseRow::of(cause);
        self.query(|conn| diesel::insert_into(causes::table).values(&row).execute(conn))?;
        Ok(())
    }
}

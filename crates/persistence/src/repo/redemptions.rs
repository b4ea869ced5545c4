//! Redemptions.

use diesel::prelude::*;
use guerdon_domain::ports::{Redemptions, StoreError, Timestamp};
use guerdon_domain::redemptions::Redemption;
use guerdon_domain::values::RedemptionId;

use super::Unit;
use crate::rows::RedemptionRow;
use crate::schema::redemptions;
use crate::types::{At, Id};

impl Redemptions for Unit<'_> {
    fn redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError> {
        let found = self.query(|conn| {
            redemptions::table
                .find(Id(id.as_uuid()))
                .select(RedemptionRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        self.keep(found.map(RedemptionRow::read).transpose())
    }

    fn insert_redemption(&mut self, redemption: &Redemption) -> Result<(), StoreError> {
        let row = RedemptionRow::of(redemption);
        self.query(|conn| diesel::insert_into(redemptions::table).values(&row).execute(conn))?;
        Ok(())
    }

    fn mark_redemption_refunded(&mut self, id: RedemptionId, at: Timestamp) -> Result<(), StoreError> {
        self.query(|conn| {
            diesel::update(redemptions::table.find(Id(id.as_uuid())))
                .set(redemptions::refunded_at.eq(Some(At(at))))
                .execute(conn)
        })?;
        Ok(())
    }
}

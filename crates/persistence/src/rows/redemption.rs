//! Redemptions.

use diesel::prelude::*;
use guerdon_domain::money::{Amount, Points};
use guerdon_domain::ports::StoreError;
use guerdon_domain::redemptions::Redemption;
use guerdon_domain::values::{CompanyId, RedemptionId, UserId};

use super::Reading;
use crate::schema::redemptions;
use crate::types::{At, Id};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = redemptions, treat_none_as_default_value = false)]
pub(crate) struct RedemptionRow {
    id: Id,
    company_id: Id,
    user_id: Id,
    points: i64,
    amount: i64,
    created_at: At,
    refunded_at: Option<At>,
}

impl RedemptionRow {
    pub(crate) fn of(it: &Redemption) -> Self {
        Self {
            id: Id(it.id.as_uuid()),
            company_id: Id(it.company_id.as_uuid()),
            user_id: Id(it.user_id.as_uuid()),
            points: it.points.get(),
            amount: it.amount.nanodollars(),
            created_at: At(it.created_at),
            refunded_at: it.refunded_at.map(At),
        }
    }

    pub(crate) fn read(self) -> Result<Redemption, StoreError> {
        let reading = Reading { table: "redemptions", id: self.id.0 };
        Ok(Redemption {
            id: RedemptionId::from_uuid(self.id.0),
            company_id: CompanyId::from_uuid(self.company_id.0),
            user_id: UserId::from_uuid(self.user_id.0),
            points: reading.make("points", Points::new(self.points))?,
            amount: Amount::from_nanodollars(self.amount),
            created_at: self.created_at.0,
            refunded_at: self.refunded_at.map(|it| it.0),
        })
    }
}

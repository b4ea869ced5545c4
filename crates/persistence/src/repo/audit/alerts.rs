//! Checks the alert thresholds of reserves.

use diesel::prelude::*;
use guerdon_domain::audit::Findings;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::wallets::AccountKind;

use super::Unit;
use super::pages::PAGE_ENTRIES;
use crate::rows::Id;
use crate::rows::schema::{accounts, companies};

impl Unit<'_> {
    /// Checks that the alert threshold of every reserve follows from the company's threshold and rate.
    pub(super) fn audit_alerts(&mut self, findings: &mut Findings) -> Result<(), StoreError> {
        type ReserveColumns = (Id, i32, Option<i64>, Option<i64>);
        let mut after = Id(uuid::Uuid::nil());
        loop {
            let page: Vec<ReserveColumns> = self.query(|conn| {
                companies::table
                    .inner_join(
                        accounts::table.on(accounts::owner_id
                            .eq(companies::id)
                            .and(accounts::kind.eq(AccountKind::Reserve.code()))),
                    )
                    .filter(companies::id.gt(after))
                    .order(companies::id)
                    .limit(PAGE_ENTRIES)
                    .select((
                        companies::id,
                        companies::points_per_dollar,
                        companies::reserve_alert,
                        accounts::alert_below,
                    ))
                    .get_results(conn)
            })?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.0;
            for (id, rate, threshold, alert) in page {
                let rate = PointsPerDollar::new(rate.into());
                let expected = threshold.and_then(Points::new).map(|points| {
                    let balance = rate.and_then(|rate| rate.min_balance(points));
                    balance.unwrap_or(Amount::MAX).nanodollars()
                });
                findings.require(alert == expected, "reserve alert", || {
                    format!(
                        "the alert threshold of the reserve of company {} differs from the company's setting",
                        id.0
                    )
                });
            }
        }
    }
}

//! Computes what a range of the journal adds to the statistics.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use guerdon_domain::money::Amount;
use guerdon_domain::ports::{
    CompanyDay, ServiceHour, Statistics as _, StatisticsDelta, StoreError, days_since_epoch,
    hours_since_epoch,
};
use guerdon_domain::values::CompanyId;
use guerdon_domain::wallets::AccountKind;

use super::super::statistics::upsert_sums;
use super::Unit;
use crate::rows::{Id, Identifier, JournalEntryRow, TransferRow, kind};

/// Counts in progress.
#[derive(Default)]
pub(super) struct StatisticsCounter(pub(super) StatisticsDelta);

impl StatisticsCounter {
    pub(super) fn count_entry(&mut self, entry: &JournalEntryRow<'_>) {
        if entry.kind != kind::RECOGNITION {
            return;
        }
        let (at, company) = (entry.created_at.0, entry.company_id.0);
        let legs = i64::from(entry.legs);
        let points = entry.points.saturating_mul(legs);
        let hour = self.0.hours.entry(hours_since_epoch(at)).or_default();
        *hour = (hour.0 + legs, hour.1.saturating_add(points));
        let day = self.0.companies.entry((company, days_since_epoch(at))).or_default();
        (day.recognitions, day.points) = (day.recognitions + legs, day.points.saturating_add(points));
        if let Some(occasion) = entry.occasion_id {
            let used = self.0.occasions.entry((company, days_since_epoch(at), occasion.0)).or_default();
            *used = (used.0 + legs, used.1.saturating_add(points));
        }
    }

    pub(super) fn count_transfer(&mut self, transfer: &TransferRow) {
        let day = self
            .0
            .companies
            .entry((transfer.company_id.0, days_since_epoch(transfer.created_at.0)))
            .or_default();
        let amount = Amount::from_nanodollars(transfer.amount);
        let changes =
            [(transfer.debit_kind, Amount::ZERO.checked_sub(amount)), (transfer.credit_kind, Some(amount))];
        for (kind, change) in changes {
            let balance = match AccountKind::from_code(kind) {
                Some(AccountKind::Reserve) => &mut day.reserve,
                Some(AccountKind::UserWallet) => &mut day.user_wallets,
                Some(AccountKind::PeerWallet) => &mut day.peer_wallets,
                Some(AccountKind::ManagerWallet) => &mut day.manager_wallets,
                _ => continue,
            };
            *balance = change.and_then(|change| balance.checked_add(change)).unwrap_or(*balance);
        }
    }
}

impl Unit<'_> {
    /// Adds the statistics of a sealed range, exactly once: in the transaction that writes the seal.
    pub(super) fn add_statistics_delta(&mut self, counted: &StatisticsDelta) -> Result<(), StoreError> {
        for (&hour, &(recognitions, points)) in &counted.hours {
            self.add_service_hour(&ServiceHour { hour, recognitions, points, ..ServiceHour::default() })?;
        }
        for ((company, day), sums) in &counted.companies {
            self.add_company_day(*company, &CompanyDay { day: *day, ..*sums })?;
            self.add_company_day(*company, &CompanyDay { day: 0, ..*sums })?; // the total of all days
        }
        let query = upsert_sums(
            "occasion_statistics",
            &["company_id", "day", "occasion_id"],
            &["recognitions", "points"],
        );
        for ((company, day, occasion), (recognitions, points)) in &counted.occasions {
            self.query(|conn| {
                diesel::sql_query(&query)
                    .bind::<Identifier, _>(Id(*company))
                    .bind::<Integer, _>(*day)
                    .bind::<Identifier, _>(Id(*occasion))
                    .bind::<BigInt, _>(*recognitions)
                    .bind::<BigInt, _>(*points)
                    .execute(conn)
            })?;
        }
        Ok(())
    }

    fn add_company_day(&mut self, company: CompanyId, day: &CompanyDay) -> Result<(), StoreError> {
        let columns =
            ["recognitions", "points", "reserve", "user_wallets", "peer_wallets", "manager_wallets"];
        let query = upsert_sums("company_statistics", &["company_id", "day"], &columns);
        self.execute(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(company))
                .bind::<Integer, _>(day.day)
                .bind::<BigInt, _>(day.recognitions)
                .bind::<BigInt, _>(day.points)
                .bind::<BigInt, _>(day.reserve.nanodollars())
                .bind::<BigInt, _>(day.user_wallets.nanodollars())
                .bind::<BigInt, _>(day.peer_wallets.nanodollars())
                .bind::<BigInt, _>(day.manager_wallets.nanodollars())
                .execute(conn)
        })
    }
}

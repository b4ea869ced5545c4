//! Computes what a range of the journal adds to the statistics.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use guerdon_domain::money::Amount;
use guerdon_domain::ports::{CompanyDay, Counted, Figures as _, ServiceHour, StoreError, day_of, hour_of};
use guerdon_domain::values::{CompanyId, OccasionId};
use guerdon_domain::wallets::AccountKind;

use super::super::Unit;
use super::super::figures::adding;
use crate::rows::types::{Id, Identifier};
use crate::rows::{JournalEntryRow, TransferRow, kind};

/// Counts in progress.
#[derive(Default)]
pub(super) struct Counting {
    hours: BTreeMap<i32, (i64, i64)>,
    companies: BTreeMap<(CompanyId, i32), CompanyDay>,
    occasions: BTreeMap<(CompanyId, i32, OccasionId), (i64, i64)>,
}

impl Counting {
    pub(super) fn cause(&mut self, it: &JournalEntryRow<'_>) {
        if it.kind != kind::SENDING {
            return;
        }
        let (at, company) = (it.created_at.0, it.company_id.0);
        let legs = i64::from(it.legs);
        let points = it.points.saturating_mul(legs);
        let hour = self.hours.entry(hour_of(at)).or_default();
        *hour = (hour.0 + legs, hour.1.saturating_add(points));
        let day = self.companies.entry((company, day_of(at))).or_default();
        (day.recognitions, day.points) = (day.recognitions + legs, day.points.saturating_add(points));
        if let Some(occasion) = it.occasion_id {
            let used = self.occasions.entry((company, day_of(at), occasion.0)).or_default();
            *used = (used.0 + legs, used.1.saturating_add(points));
        }
    }

    pub(super) fn transfer(&mut self, it: &TransferRow) {
        let day = self.companies.entry((it.company_id.0, day_of(it.created_at.0))).or_default();
        let amount = Amount::from_nanodollars(it.amount);
        let places = [(it.debit_kind, Amount::ZERO.checked_sub(amount)), (it.credit_kind, Some(amount))];
        for (kind, change) in places {
            let place = match AccountKind::from_code(kind) {
                Some(AccountKind::Reserve) => &mut day.reserve,
                Some(AccountKind::UserWallet) => &mut day.user_wallets,
                Some(AccountKind::PeerWallet) => &mut day.peer_wallets,
                Some(AccountKind::ManagerWallet) => &mut day.manager_wallets,
                _ => continue,
            };
            *place = change.and_then(|change| place.checked_add(change)).unwrap_or(*place);
        }
    }

    pub(super) fn end(self) -> Counted {
        Counted {
            hours: self
                .hours
                .into_iter()
                .map(|(hour, (recognitions, points))| ServiceHour {
                    hour,
                    recognitions,
                    points,
                    ..ServiceHour::default()
                })
                .collect(),
            companies: self
                .companies
                .into_iter()
                .map(|((company, day), sums)| (company, CompanyDay { day, ..sums }))
                .collect(),
            occasions: self.occasions.into_iter().map(|((c, d, o), (n, p))| (c, d, o, n, p)).collect(),
        }
    }
}

impl Unit<'_> {
    /// Adds the statistics of a sealed range, exactly once: in the transaction that writes the seal.
    pub(super) fn add_counted(&mut self, counted: &Counted) -> Result<(), StoreError> {
        for hour in &counted.hours {
            self.add_service_hour(hour)?;
        }
        for (company, sums) in &counted.companies {
            self.add_company_day(*company, sums)?;
            self.add_company_day(*company, &CompanyDay { day: 0, ..*sums })?; // the total of all days
        }
        let query =
            adding("occasion_statistics", &["company_id", "day", "occasion_id"], &["recognitions", "points"]);
        for (company, day, occasion, recognitions, points) in &counted.occasions {
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

    fn add_company_day(&mut self, company: CompanyId, it: &CompanyDay) -> Result<(), StoreError> {
        let columns =
            ["recognitions", "points", "reserve", "user_wallets", "peer_wallets", "manager_wallets"];
        let query = adding("company_statistics", &["company_id", "day"], &columns);
        self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Identifier, _>(Id(company))
                .bind::<Integer, _>(it.day)
                .bind::<BigInt, _>(it.recognitions)
                .bind::<BigInt, _>(it.points)
                .bind::<BigInt, _>(it.reserve.nanodollars())
                .bind::<BigInt, _>(it.user_wallets.nanodollars())
                .bind::<BigInt, _>(it.peer_wallets.nanodollars())
                .bind::<BigInt, _>(it.manager_wallets.nanodollars())
                .execute(conn)
        })?;
        Ok(())
    }
}

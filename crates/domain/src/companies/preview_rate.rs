//! Previews a change of the rate.

use crate::model::Company;
use crate::money::{Amount, Points, PointsPerDollar};
use crate::ports::{BalanceGroup, ReadAccounts, StoreError};
use crate::wallets::{Account, WalletType};

/// A number at the current rate and at the proposed rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CurrentAndProposed {
    pub current: i64,
    pub proposed: i64,
}

/// What a company shows at its current rate, and would show at another rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePreview {
    pub rate: CurrentAndProposed,
    pub reserve: CurrentAndProposed,
    /// The total points of the active users' wallets, in the order user, peer, manager.
    pub wallets: [CurrentAndProposed; 3],
}

/// Computes what a company's accounts would show at another rate. Changes nothing.
pub fn preview_rate<R: ReadAccounts + ?Sized>(
    reads: &mut R,
    company: &Company,
    proposed: PointsPerDollar,
) -> Result<RatePreview, StoreError> {
    let current = company.rate;
    let shown_at_both = |amount: Amount| [current, proposed].map(|rate| rate.shown_points(amount));
    let reserve = shown_at_both(reads.account_balance(Account::Reserve(company.id))?.unwrap_or_default());
    let mut wallets = [[0_i128; 2]; 3];
    reads.for_each_balance_group(company.id, &mut |BalanceGroup { wallet, amount, count }| {
        let [user, peer, manager] = &mut wallets;
        let sums = match wallet {
            WalletType::User => user,
            WalletType::Peer => peer,
            WalletType::Manager => manager,
        };
        for (sum, points) in sums.iter_mut().zip(shown_at_both(amount)) {
            *sum += i128::from(points.get()) * i128::from(count);
        }
    })?;
    let saturate = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
    Ok(RatePreview {
        rate: CurrentAndProposed { current: current.get(), proposed: proposed.get() },
        reserve: from_pair(reserve.map(Points::get)),
        wallets: wallets.map(|sums| from_pair(sums.map(saturate))),
    })
}

fn from_pair([current, proposed]: [i64; 2]) -> CurrentAndProposed {
    CurrentAndProposed { current, proposed }
}

//! Previews a change of the rate.

use crate::model::Company;
use crate::money::{Amount, Points, PointsPerDollar};
use crate::ports::{Holding, ReadAccounts, StoreError};
use crate::wallets::{Account, WalletType};

/// Points at the present rate, and at another rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NowAndThen {
    pub now: i64,
    pub then: i64,
}

/// What a company shows at its present rate, and would show at another rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatePreview {
    pub rate: NowAndThen,
    pub reserve: NowAndThen,
    /// The sums over the active users, in the order user, peer, manager.
    pub wallets: [NowAndThen; 3],
}

/// Computes what a company's accounts would show at another rate. Changes nothing.
pub fn preview_rate<R: ReadAccounts + ?Sized>(
    reads: &mut R,
    company: &Company,
    then: PointsPerDollar,
) -> Result<RatePreview, StoreError> {
    let now = company.rate;
    let both = |amount: Amount| [now, then].map(|rate| rate.points(amount));
    let reserve = both(reads.balance(Account::Reserve(company.id))?.unwrap_or_default());
    let mut wallets = [[0_i128; 2]; 3];
    for Holding { wallet, amount, count } in reads.holdings(company.id)? {
        let [user, peer, manager] = &mut wallets;
        let sums = match wallet {
            WalletType::User => user,
            WalletType::Peer => peer,
            WalletType::Manager => manager,
        };
        for (sum, points) in sums.iter_mut().zip(both(amount)) {
            *sum += i128::from(points.get()) * i128::from(count);
        }
    }
    let shown = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
    Ok(RatePreview {
        rate: NowAndThen { now: now.get(), then: then.get() },
        reserve: pair(reserve.map(Points::get)),
        wallets: wallets.map(|sums| pair(sums.map(shown))),
    })
}

fn pair([now, then]: [i64; 2]) -> NowAndThen {
    NowAndThen { now, then }
}

//! Changing the conversion rate (spec §4.1): amounts stay, what they show changes at once.

use crate::money::PointsPerDollar;
use crate::ports::{Context, Denied, StoreError, Tx};
use crate::reserve;
use crate::values::{CompanyId, ProviderId};
use crate::wallets::Account;

/// Why the rate was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeRateError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sets a company's rate; alerts where the reserve thereby falls below its threshold. No amount moves.
pub fn change_rate(
    tx: &mut dyn Tx,
    scope: ProviderId,
    id: CompanyId,
    rate: PointsPerDollar,
    context: &Context<'_>,
) -> Result<(), ChangeRateError> {
    let company = tx.company(scope, id)?.named("id")?.company;
    if company.rate == rate {
        return Ok(());
    }
    tx.set_rate(id, rate, context.clock.now())?;
    let balance = tx.balance(Account::Reserve(id))?.unwrap_or_default();
    let before = company.rate.points(balance);
    reserve::alert_on_crossing(tx, &company, before, rate.points(balance), context)?;
    Ok(())
}

//! What sending a recognition would do.

use super::send::{SendError, SendRecognition, load, payers, send};
use crate::money::{Points, PointsPerDollar};
use crate::ports::{Context, Ledger, StoreError};
use crate::values::{ProviderId, fit};
use crate::wallets::Account;

/// What a recognition would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rehearsal {
    /// Who would pay.
    pub payer: Account,
    /// What it would cost in all.
    pub points: Points,
    /// How many would receive it.
    pub receivers: usize,
    /// What the payer would show afterwards.
    pub left: Points,
    pub rate: PointsPerDollar,
}

/// Sends a recognition, by the very rules, and tells what it did: its caller undoes all of it.
pub fn rehearse<T: Ledger + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    command: &SendRecognition,
    context: &Context<'_>,
) -> Result<Rehearsal, SendError> {
    let parties = load(tx, scope, command)?;
    let payers = payers(&parties);
    let mut before = Vec::with_capacity(payers.len());
    for payer in &payers {
        before.push((*payer, tx.balance(*payer)?));
    }
    let sent = send(tx, scope, command, context)?;
    let mut paid = None;
    for (payer, held) in before {
        let left = tx.balance(payer)?;
        paid = paid.or(Some((payer, left))); // one of nothing moves nothing: the first would pay it
        if left != held {
            paid = Some((payer, left));
            break;
        }
    }
    let (payer, left) = paid.ok_or_else(|| StoreError::Broken("a recognition has no payer".into()))?;
    let rate = parties.company.rate;
    let points = sent.first().and_then(|it| it.points.checked_mul(fit(sent.len()))).unwrap_or_default();
    Ok(Rehearsal { payer, points, receivers: sent.len(), left: rate.points(left.unwrap_or_default()), rate })
}

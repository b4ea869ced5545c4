//! The dry run of a recognition.

use super::send::{SendError, SendRecognition};
use crate::decide::decide_command;
use crate::money::{Points, PointsPerDollar};
use crate::ports::{Context, LedgerAccess};
use crate::values::{ProviderId, checked_cast};
use crate::wallets::{Account, Reason};

/// What a recognition would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DryRun {
    /// The account that would pay.
    pub payer: Account,
    /// The total points that the recognition would cost.
    pub points: Points,
    /// The number of receivers.
    pub receivers: usize,
    /// The points that the payer would show afterwards.
    pub remaining: Points,
    pub rate: PointsPerDollar,
}

/// Decides a recognition and writes nothing. Returns the effects that sending it would have.
pub fn dry_run<T: LedgerAccess + ?Sized>(
    tx: &mut T,
    scope: ProviderId,
    command: &SendRecognition,
    context: &Context<'_>,
) -> Result<DryRun, SendError> {
    let (sent, batch) = decide_command(tx, scope, command, context)?;
    let (book, changes) = (batch.book(), batch.changes());
    // A recognition of zero points moves nothing. The first possible payer counts as its payer.
    let paid = book
        .transfers()
        .iter()
        .find(|transfer| transfer.reason == Reason::Recognition)
        .map(|transfer| transfer.debit.0);
    let payer = paid.unwrap_or(command.first_payer());
    let rate = changes.journal_entries.first().map_or(PointsPerDollar::DEFAULT, |entry| entry.rate);
    let left = book.shown_points(payer, rate);
    let points = sent
        .first()
        .and_then(|recognition| recognition.points.checked_mul(checked_cast(sent.len())))
        .unwrap_or_default();
    Ok(DryRun { payer, points, receivers: sent.len(), remaining: left, rate })
}

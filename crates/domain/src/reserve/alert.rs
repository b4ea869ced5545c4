//! The reserve alert: the administrators of a company are notified once when its reserve falls below a
//! threshold.

use crate::ledger::{Changes, Facts, LedgerError, ThresholdCrossing};
use crate::model::{Company, Notification};
use crate::money::{Amount, Points};
use crate::notifications;
use crate::ports::{Accounts, Context, NotificationOutbox, ReadUsers, StoreError};

/// Sets the amount below which payments trigger the reserve alert: the company's threshold at its rate.
/// Alerts immediately if the reserve is low with the rate and threshold of `after` but was not low with those
/// of `before`.
pub fn set_alert<T: Accounts + NotificationOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    before: &Company,
    after: &Company,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let balance = tx.set_reserve_alert(after.id, alert_threshold(after))?;
    let was_low = alert_threshold(before).is_some_and(|threshold| balance < threshold);
    let is_low = alert_threshold(after).is_some_and(|threshold| balance < threshold);
    let Some(threshold) = after.reserve_alert.filter(|_| is_low && !was_low) else { return Ok(()) };
    let notification = reserve_low(after, threshold, balance);
    notifications::notify_administrators(tx, after, after.reserve_bcc.clone(), &notification, context)
}

/// The smallest reserve balance that is not low; `None` if the company has no threshold.
pub fn alert_threshold(company: &Company) -> Option<Amount> {
    // A threshold above the largest amount makes every reserve low.
    company.reserve_alert.map(|reserve_alert| company.rate.min_balance(reserve_alert).unwrap_or(Amount::MAX))
}

/// Queues the alert, one email for each active company admin and for `reserve_bcc`, if a payment took the
/// reserve below its threshold. The threshold is that of the account, which the payment has locked: a change of the
/// company may have been committed after `company` was loaded.
pub fn queue_alert_on_crossing(
    company: &Company,
    threshold_crossing: Option<ThresholdCrossing>,
    facts: &Facts,
    changes: &mut Changes,
    context: &Context<'_>,
) -> Result<(), LedgerError> {
    if let Some(ThresholdCrossing { threshold, balance }) = threshold_crossing {
        let threshold = company.rate.shown_points(threshold);
        let admins = facts.administrator_addresses(company.id)?.iter().cloned();
        let recipients = admins.chain(company.reserve_bcc.clone());
        let notification = reserve_low(company, threshold, balance);
        let new = notifications::build_notifications(company, recipients, &notification, context);
        changes.notifications.extend(new);
    }
    Ok(())
}

fn reserve_low(company: &Company, threshold: Points, balance: Amount) -> Notification {
    let balance = company.rate.shown_points(balance);
    Notification::ReserveLow { company: company.into(), threshold, balance }
}

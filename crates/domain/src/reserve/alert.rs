//! The reserve alert: the administrators of a company are notified once when its reserve falls below a
//! threshold.

use crate::ledger::{Changes, Facts, LedgerError};
use crate::model::{Company, NewMail, Notification};
use crate::money::{Amount, Points};
use crate::notifications;
use crate::ports::{Accounts, Context, MailOutbox, ReadUsers, StoreError};
use crate::values::EmailAddress;

/// Sets the amount below which payments trigger the reserve alert: the company's threshold at its rate.
/// Alerts at once if a new rate or threshold makes the reserve low: it was not low `before`, and is low now.
pub fn set_alert<T: Accounts + MailOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    before: &Company,
    after: &Company,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let held = tx.alert_below(after.id, least(after))?;
    let was_low = least(before).is_some_and(|threshold| held < threshold);
    let is_low = least(after).is_some_and(|threshold| held < threshold);
    let Some(threshold) = after.reserve_alert.filter(|_| is_low && !was_low) else { return Ok(()) };
    let admins = tx.admin_emails(after.id)?.into_iter();
    tx.queue_mails(&alert(after, threshold, held, admins, context))
}

/// The smallest reserve balance that is not low; `None` if the company has no threshold.
pub fn least(company: &Company) -> Option<Amount> {
    // A threshold above the largest amount makes every reserve low.
    company.reserve_alert.map(|reserve_alert| company.rate.least(reserve_alert).unwrap_or(Amount::MAX))
}

/// Queues the alert, one mail for each active company admin and for `reserve_bcc`, if a payment took the
/// reserve below its threshold; `low` is the balance after that payment.
pub fn alert_if_low(
    company: &Company,
    low: Option<Amount>,
    facts: &Facts,
    changes: &mut Changes,
    context: &Context<'_>,
) -> Result<(), LedgerError> {
    if let Some((low, threshold)) = low.zip(company.reserve_alert) {
        let admins = facts.administrators(company.id)?.iter().cloned();
        changes.mails.extend(alert(company, threshold, low, admins, context));
    }
    Ok(())
}

fn alert(
    company: &Company,
    threshold: Points,
    low: Amount,
    admins: impl Iterator<Item = EmailAddress>,
    context: &Context<'_>,
) -> Vec<NewMail> {
    let balance = company.rate.points(low);
    let notification = Notification::ReserveLow { company: company.into(), threshold, balance };
    notifications::address(company, admins.chain(company.reserve_bcc.clone()), &notification, context)
}

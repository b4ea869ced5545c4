//! The reserve alert.

use std::collections::BTreeMap;

use crate::companies::{self, Company};
use crate::money::{Amount, Points};
use crate::ports::{Context, NewMail, StoreError, Tx};
use crate::values::EmailAddress;

/// Whether so many points are below a threshold; without one nothing is (contract §5.8).
pub fn is_low(points: Points, threshold: Option<Points>) -> bool {
    threshold.is_some_and(|it| points < it)
}

/// Queues the alert where a payment out of the reserve took it below the company's threshold. The reserve is held
/// by then, so that rate and threshold are read anew: one that changed meanwhile counts.
pub fn alert_after_payment(
    tx: &mut dyn Tx,
    company: &Company,
    before: Amount,
    after: Amount,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let Some(company) = companies::for_operator(tx, company.id)? else { return Ok(()) };
    let was_low = is_low(company.rate.points(before), company.reserve_alert);
    alert_on_crossing(tx, &company, was_low, company.rate.points(after), context)
}

/// Queues the alert, one mail to each active company admin and to `reserve_bcc`, where the reserve was not low and
/// is now.
pub fn alert_on_crossing(
    tx: &mut dyn Tx,
    company: &Company,
    was_low: bool,
    after: Points,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let Some(threshold) = company.reserve_alert else { return Ok(()) };
    if was_low || !is_low(after, company.reserve_alert) {
        return Ok(());
    }
    let recipients = tx.admin_emails(company.id)?.into_iter().chain(company.reserve_bcc.clone());
    let distinct: BTreeMap<String, EmailAddress> =
        recipients.map(|it| (it.folded().to_owned(), it)).collect();
    let created_at = context.clock.now();
    let (subject, body) = letter(company, threshold, after);
    let mails: Vec<NewMail> = distinct
        .into_values()
        .map(|recipient| NewMail {
            id: context.ids.next(),
            recipient,
            subject: subject.clone(),
            body: body.clone(),
            created_at,
        })
        .collect();
    tx.queue_mails(&mails)
}

/// Subject and body: what has happened, what to do, what happens until then.
fn letter(company: &Company, threshold: Points, after: Points) -> (String, String) {
    let (id, name, domain) = (company.id, company.name.as_str(), company.domain.as_str());
    let (threshold, after) = (threshold.get(), after.get());
    let missing = threshold.saturating_sub(after);
    let subject = format!("{name}: {after} points left in the reserve");
    let body = format!(
        "The points reserve of {name} ({domain}) is at {after} points. You asked to be told below {threshold}.\n\n\
         What to do: have points added to the reserve. Ask whoever runs your recognition service to deposit at \
         least {missing} points for the company {id}.\n\n\
         Until then: recognitions that the company pays for go on while the reserve covers them, and are refused \
         once it does not. Points that people already hold are not touched.\n\n\
         This mail is sent once each time the reserve falls below {threshold} points. You receive it as an \
         administrator of {name}, or because your address was named for these alerts.\n"
    );
    (subject, body)
}

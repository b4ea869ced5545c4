//! The reserve alert.

use std::collections::BTreeMap;

use crate::model::Company;
use crate::money::{Amount, Points};
use crate::ports::{Accounts, Context, MailOutbox, NewMail, ReadUsers, StoreError};
use crate::values::EmailAddress;

/// Has payments tell when they take the reserve below the company's threshold at its rate. Alerts where a new rate or
/// a new threshold does: the reserve did not count as low `before`, and does now.
pub fn set_alert<T: Accounts + MailOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    before: &Company,
    after: &Company,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let held = tx.alert_below(after.id, least(after))?;
    let was_low = least(before).is_some_and(|it| held < it);
    let is_low = least(after).is_some_and(|it| held < it);
    alert_if_low(tx, after, (is_low && !was_low).then_some(held), context)
}

/// The least that a company's reserve can hold without counting as low; none where nothing does.
pub fn least(company: &Company) -> Option<Amount> {
    // A threshold above every amount is one that every reserve is below.
    company.reserve_alert.map(|it| company.rate.least(it).unwrap_or(Amount::MAX))
}

/// Queues the alert, one mail to each active company admin and to `reserve_bcc`, where the reserve fell below its
/// threshold just now; `low` is what it holds then.
pub fn alert_if_low<T: MailOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    company: &Company,
    low: Option<Amount>,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let Some((low, threshold)) = low.zip(company.reserve_alert) else { return Ok(()) };
    let (subject, body) = letter(company, threshold, company.rate.points(low));
    let others = company.reserve_bcc.clone();
    mail_admins(tx, (company, others), &subject, &body, context)
}

/// Queues a mail to each active admin of a company, and to whoever else is named; once for each address.
pub fn mail_admins<T: MailOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    (company, others): (&Company, impl IntoIterator<Item = EmailAddress>),
    subject: &str,
    body: &str,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let recipients = tx.admin_emails(company.id)?.into_iter().chain(others);
    let distinct: BTreeMap<String, EmailAddress> =
        recipients.map(|it| (it.folded().to_owned(), it)).collect();
    let created_at = context.clock.now();
    let mails: Vec<NewMail> = distinct
        .into_values()
        .map(|recipient| NewMail {
            id: context.ids.next(),
            company_id: company.id,
            recipient,
            subject: subject.to_owned(),
            body: body.to_owned(),
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

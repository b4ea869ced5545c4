//! The reserve alert.

use std::collections::BTreeMap;

use crate::ledger::{Changes, Facts, LedgerError};
use crate::model::{Company, NewMail};
use crate::money::{Amount, Points};
use crate::ports::{Accounts, Context, MailOutbox, ReadUsers, StoreError};
use crate::values::{CompanyId, EmailAddress};

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
    let Some(threshold) = after.reserve_alert.filter(|_| is_low && !was_low) else { return Ok(()) };
    let admins = tx.admin_emails(after.id)?.into_iter();
    tx.queue_mails(&alert(after, threshold, held, admins, context))
}

/// The least that a company's reserve can hold without counting as low; none where nothing does.
pub fn least(company: &Company) -> Option<Amount> {
    // A threshold above every amount is one that every reserve is below.
    company.reserve_alert.map(|it| company.rate.least(it).unwrap_or(Amount::MAX))
}

/// Adds the alert, one mail to each active company admin and to `reserve_bcc`, if a payment took the reserve below its
/// threshold; `low` is what it holds then.
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
    let (subject, body) = letter(company, threshold, company.rate.points(low));
    mails(company.id, admins.chain(company.reserve_bcc.clone()), &subject, &body, context)
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
    tx.queue_mails(&mails(company.id, recipients, subject, body, context))
}

/// A mail to each recipient; once for each address.
fn mails(
    company: CompanyId,
    recipients: impl Iterator<Item = EmailAddress>,
    subject: &str,
    body: &str,
    context: &Context<'_>,
) -> Vec<NewMail> {
    let distinct: BTreeMap<String, EmailAddress> =
        recipients.map(|it| (it.folded().to_owned(), it)).collect();
    let created_at = context.clock.now();
    let one = |recipient| NewMail {
        id: context.ids.next(),
        company_id: company,
        recipient,
        subject: subject.to_owned(),
        body: body.to_owned(),
        created_at,
    };
    distinct.into_values().map(one).collect()
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

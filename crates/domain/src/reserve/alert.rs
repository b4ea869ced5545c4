//! The reserve alert.

use std::collections::BTreeMap;

use crate::companies::Company;
use crate::money::Points;
use crate::ports::{Context, NewMail, StoreError, Tx};
use crate::values::EmailAddress;

/// Queues the alert, one mail to each active company admin and to `reserve_bcc`, where the reserve went from at or
/// above the company's threshold to below it. Without a threshold nothing is ever crossed.
pub fn alert_on_crossing(
    tx: &mut dyn Tx,
    company: &Company,
    before: Points,
    after: Points,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let Some(threshold) = company.reserve_alert else { return Ok(()) };
    if before < threshold || after >= threshold {
        return Ok(());
    }
    let recipients = tx.admin_emails(company.id)?.into_iter().chain(company.reserve_bcc.clone());
    let distinct: BTreeMap<String, EmailAddress> =
        recipients.map(|it| (it.folded().to_owned(), it)).collect();
    let created_at = context.clock.now();
    let name = company.name.as_str();
    let mails: Vec<NewMail> = distinct
        .into_values()
        .map(|recipient| NewMail {
            id: context.ids.next(),
            recipient,
            subject: format!("The points reserve of {name} is low"),
            body: format!(
                "The points reserve of {name} ({}) has fallen to {} points, below the {} points at which you asked \
                 to be told.\n\nPlease add points to the reserve, so that recognitions can go on being sent.\n",
                company.domain.as_str(),
                after.get(),
                threshold.get(),
            ),
            created_at,
        })
        .collect();
    tx.queue_mails(&mails)
}

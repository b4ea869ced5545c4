//! Notifications to the administrators of a company: the reserve is low, a scheduled distribution was
//! refused, or a certificate expires soon.
//!
//! The outbox stores what has happened, not the message. Each channel renders it: [`Notification::to_mail`]
//! does so for mail.

mod mail;

use std::collections::BTreeMap;

pub use mail::MailText;

pub use crate::model::{Notification, NotifiedCompany};

use crate::model::{Company, NewMail};
use crate::ports::{Context, MailOutbox, ReadUsers, StoreError};
use crate::values::EmailAddress;

/// Queues a notification for each active administrator of a company and for `others`, once for each address.
///
/// # Errors
///
/// If the store fails.
pub fn notify_administrators<T: MailOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    company: &Company,
    others: impl IntoIterator<Item = EmailAddress>,
    notification: &Notification,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let recipients = tx.list_admin_emails(company.id)?.into_iter().chain(others);
    tx.queue_mails(&build_mails(company, recipients, notification, context))
}

/// The notification for each recipient, once for each address.
pub(crate) fn build_mails(
    company: &Company,
    recipients: impl Iterator<Item = EmailAddress>,
    notification: &Notification,
    context: &Context<'_>,
) -> Vec<NewMail> {
    let distinct: BTreeMap<String, EmailAddress> =
        recipients.map(|address| (address.folded().to_owned(), address)).collect();
    let created_at = context.clock.now();
    let mail = |recipient| NewMail {
        id: context.ids.next_id(),
        company_id: company.id,
        recipient,
        notification: notification.clone(),
        created_at,
    };
    distinct.into_values().map(mail).collect()
}

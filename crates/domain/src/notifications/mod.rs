//! Notifications to the administrators of a company: the reserve is low, a scheduled distribution was
//! refused, or a certificate expires soon.
//!
//! The outbox has a row for each recipient. A row stores what has happened, not the message. The sender of the
//! recipient's [`Channel`] claims the row and renders the message.

use std::collections::BTreeMap;

pub use crate::model::{Channel, Notification, NotifiedCompany, Recipient};

use crate::model::{Company, NewNotification};
use crate::ports::{Context, NotificationOutbox, ReadUsers, StoreError};
use crate::values::EmailAddress;

/// Queues a notification for each active administrator of a company and for `others`, once for each address.
///
/// # Errors
///
/// If the store fails.
pub fn notify_administrators<T: NotificationOutbox + ReadUsers + ?Sized>(
    tx: &mut T,
    company: &Company,
    others: impl IntoIterator<Item = EmailAddress>,
    notification: &Notification,
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let recipients = tx.list_admin_emails(company.id)?.into_iter().chain(others);
    tx.queue_notifications(&build_notifications(company, recipients, notification, context))
}

/// Builds one notification for each distinct address of the recipients.
pub(crate) fn build_notifications(
    company: &Company,
    recipients: impl Iterator<Item = EmailAddress>,
    notification: &Notification,
    context: &Context<'_>,
) -> Vec<NewNotification> {
    let distinct: BTreeMap<String, EmailAddress> =
        recipients.map(|address| (address.folded().to_owned(), address)).collect();
    let created_at = context.clock.now();
    let to_recipient = |address| NewNotification {
        id: context.ids.next_id(),
        company_id: company.id,
        provider_id: company.provider_id,
        recipient: Recipient::Mail(address),
        notification: notification.clone(),
        created_at,
    };
    distinct.into_values().map(to_recipient).collect()
}

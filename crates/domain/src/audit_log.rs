//! The audit log: who did what, newest first. It merges audit entries with the journal entries.

use crate::model::{EntryKind, JournalEntry};
use crate::ports::{AuditLogQuery, ReadAuditLog, StoreError};

pub use crate::model::{Action, AuditEntry};

/// Returns the newest entries that match the query.
pub fn list_newest_entries<R: ReadAuditLog + ?Sized>(
    reads: &mut R,
    query: &AuditLogQuery,
) -> Result<Vec<AuditEntry>, StoreError> {
    let mut all = reads.list_audit_entries(query)?;
    all.extend(reads.list_journal_entries(query)?.iter().map(audit_entry));
    all.sort_by_key(|entry| std::cmp::Reverse(entry.id)); // ids increase with time
    all.truncate(usize::try_from(query.limit).unwrap_or(0));
    Ok(all)
}

/// Converts a journal entry to an entry of the audit log.
fn audit_entry(entry: &JournalEntry) -> AuditEntry {
    let (action, object_id, detail) = describe_entry(entry);
    AuditEntry {
        id: entry.id.as_uuid(),
        at: entry.created_at,
        requester: entry.requester.clone(),
        action,
        company_id: Some(entry.company_id),
        provider_id: Some(entry.provider_id),
        object_id,
        detail,
    }
}

fn describe_entry(entry: &JournalEntry) -> (Action, Option<uuid::Uuid>, String) {
    let rate = || format!("{} points per dollar", entry.rate.get());
    match &entry.kind {
        EntryKind::CompanyCreation => (Action::CompanyCreated, None, rate()),
        EntryKind::RateChange => (Action::RateChanged, None, rate()),
        EntryKind::CompanyTransfer { to } => (Action::CompanyTransferred, None, format!("to provider {to}")),
        EntryKind::Recognition(sent) => {
            let detail = format!("{} to each of {} receivers", sent.points.to_text(), sent.receivers);
            (Action::RecognitionSent, Some(sent.sender.id()), detail)
        }
        EntryKind::Amendment { recognition, message, share } => {
            let changed = [(message.is_some(), "message"), (share.is_some(), "share")];
            let changed: Vec<&str> = changed.iter().filter(|field| field.0).map(|field| field.1).collect();
            (Action::RecognitionUpdated, Some(recognition.as_uuid()), changed.join(" and "))
        }
        EntryKind::Deposit { points } => (Action::Deposited, None, points.to_text()),
        EntryKind::Withdrawal { points } => (Action::Withdrawn, None, points.to_text()),
        EntryKind::Distribution { wallet, points, receivers, date } => {
            let date = date.map_or_else(String::new, |date| format!(", for {}", date.due_on));
            let (points, wallet) = (points.to_text(), wallet.name());
            let detail = format!("{points} into the {wallet} of each of {receivers} users{date}");
            (Action::Distributed, None, detail)
        }
        EntryKind::Redemption { user, points } => (Action::Redeemed, Some(user.as_uuid()), points.to_text()),
        EntryKind::Refund { redemption, points } => {
            (Action::Refunded, Some(redemption.as_uuid()), points.to_text())
        }
        EntryKind::Override { user, wallet, points } => {
            let detail = format!("{} to {}", wallet.name(), points.to_text());
            (Action::BalanceOverridden, Some(user.as_uuid()), detail)
        }
        EntryKind::UserDeletion { user, .. } => (Action::UserDeleted, Some(user.as_uuid()), String::new()),
    }
}

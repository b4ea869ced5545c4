//! The audit log: who did what, newest first. It merges audit entries with the journal entries.

use crate::model::{Act, JournalEntry};
use crate::ports::{AuditWanted, ReadAuditLog, StoreError};

pub use crate::model::{Action, AuditEntry};

/// The newest entries of the log that match.
pub fn newest<R: ReadAuditLog + ?Sized>(
    reads: &mut R,
    wanted: &AuditWanted,
) -> Result<Vec<AuditEntry>, StoreError> {
    let mut all = reads.noted(wanted)?;
    all.extend(reads.caused(wanted)?.iter().map(told));
    all.sort_by_key(|entry| std::cmp::Reverse(entry.id)); // ids increase with time
    all.truncate(usize::try_from(wanted.limit).unwrap_or(0));
    Ok(all)
}

/// A journal entry as an entry of the audit log.
fn told(it: &JournalEntry) -> AuditEntry {
    let (action, object_id, detail) = words(it);
    AuditEntry {
        id: it.id.as_uuid(),
        at: it.created_at,
        by: it.by.clone(),
        action,
        company_id: Some(it.company_id),
        provider_id: Some(it.provider_id),
        object_id,
        detail,
    }
}

fn words(it: &JournalEntry) -> (Action, Option<uuid::Uuid>, String) {
    let many = |points: crate::money::Points| match points.get() {
        1 => "1 point".to_owned(),
        count => format!("{count} points"),
    };
    let rate = || format!("{} points per dollar", it.rate.get());
    match &it.act {
        Act::Founding => (Action::CompanyCreated, None, rate()),
        Act::Rate => (Action::RateChanged, None, rate()),
        Act::Move { to } => (Action::CompanyTransferred, None, format!("to provider {to}")),
        Act::Sending(sending) => {
            let detail = format!("{} to each of {}", many(sending.points), sending.receivers);
            (Action::RecognitionSent, Some(sending.sender.id()), detail)
        }
        Act::Amendment { recognition, message, share } => {
            let changed = [(message.is_some(), "message"), (share.is_some(), "share")];
            let changed: Vec<&str> = changed.iter().filter(|field| field.0).map(|field| field.1).collect();
            (Action::RecognitionUpdated, Some(recognition.as_uuid()), changed.join(" and "))
        }
        Act::Deposit { points } => (Action::Deposited, None, many(*points)),
        Act::Withdrawal { points } => (Action::Withdrawn, None, many(*points)),
        Act::Distribution { wallet, points, receivers, date } => {
            let date = date.map_or_else(String::new, |date| format!(", for {}", date.due_on));
            let detail = format!("{} into the {} of {receivers}{date}", many(*points), wallet.name());
            (Action::Distributed, None, detail)
        }
        Act::Redemption { user, points } => (Action::Redeemed, Some(user.as_uuid()), many(*points)),
        Act::Refund { redemption, points } => (Action::Refunded, Some(redemption.as_uuid()), many(*points)),
        Act::Override { user, wallet, points } => {
            let detail = format!("{} to {}", wallet.name(), many(*points));
            (Action::WalletReplaced, Some(user.as_uuid()), detail)
        }
        Act::Deletion { user, .. } => (Action::UserDeleted, Some(user.as_uuid()), String::new()),
    }
}

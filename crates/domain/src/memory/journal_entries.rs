//! Journal entries.

use super::MemoryTx;
use super::data::StoreData;
use crate::ledger::require_rule;
use crate::model::{EntryKind, JournalEntry, Redemption, ScheduledDate};
use crate::money::Points;
use crate::ports::{JournalEntries, ReadJournalEntries, StoreError};
use crate::recognitions::Receivers;
use crate::redemptions::redemption_of_entry;
use crate::values::{JournalEntryId, RedemptionId, UserId};

/// Operations that can happen at most once.
#[derive(PartialEq)]
enum UniqueOperation {
    Refund(RedemptionId),
    UserDeletion(UserId),
    ScheduledDate(ScheduledDate),
}

/// The operation of a journal entry, if it can happen at most once.
fn unique_operation(kind: &EntryKind) -> Option<UniqueOperation> {
    match kind {
        EntryKind::Refund { redemption, .. } => Some(UniqueOperation::Refund(*redemption)),
        EntryKind::UserDeletion { user, .. } => Some(UniqueOperation::UserDeletion(*user)),
        EntryKind::Distribution { date, .. } => date.map(UniqueOperation::ScheduledDate),
        EntryKind::CompanyCreation
        | EntryKind::RateChange
        | EntryKind::CompanyTransfer { .. }
        | EntryKind::Recognition(_)
        | EntryKind::Amendment { .. }
        | EntryKind::Deposit { .. }
        | EntryKind::Withdrawal { .. }
        | EntryKind::Redemption { .. }
        | EntryKind::Override { .. } => None,
    }
}

/// Whether a journal entry has everything that its kind needs.
fn is_complete(kind: &EntryKind) -> bool {
    match kind {
        EntryKind::CompanyCreation
        | EntryKind::RateChange
        | EntryKind::CompanyTransfer { .. }
        | EntryKind::Refund { .. }
        | EntryKind::Override { .. } => true,
        EntryKind::Recognition(sent) => {
            usize::try_from(sent.receivers).is_ok_and(|receivers| (1..=Receivers::MAX).contains(&receivers))
        }
        EntryKind::Amendment { message, share, .. } => message.is_some() || share.is_some(),
        EntryKind::Deposit { points }
        | EntryKind::Withdrawal { points }
        | EntryKind::Redemption { points, .. } => *points > Points::ZERO,
        EntryKind::Distribution { points, receivers, .. } => *points > Points::ZERO && *receivers > 0,
        EntryKind::UserDeletion { wallets, .. } => *wallets <= 3,
    }
}

fn is_name(text: Option<&String>) -> bool {
    text.is_none_or(|text| (1..=255).contains(&text.chars().count()))
}

impl StoreData {
    fn has_happened(&self, operation: &UniqueOperation) -> bool {
        self.journal_entries.values().any(|entry| unique_operation(&entry.kind).as_ref() == Some(operation))
    }
}

impl JournalEntries for MemoryTx {
    fn record_journal_entry(&mut self, entry: &JournalEntry) -> Result<(), StoreError> {
        self.execute(|data| {
            require_rule(is_complete(&entry.kind), "a journal entry has the fields that its kind requires")?;
            let by = &entry.requester;
            require_rule(
                is_name(by.reference.as_ref()) && is_name(by.key.as_ref()),
                "a name has 1 to 255 characters",
            )?;
            let is_known = data.journal_entries.contains_key(&entry.id)
                || unique_operation(&entry.kind).is_some_and(|operation| data.has_happened(&operation));
            require_rule(!is_known, "a journal entry is recorded once")?;
            data.journal_entries.insert(entry.id, entry.clone());
            Ok(())
        })
    }
}

impl ReadJournalEntries for MemoryTx {
    fn find_redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError> {
        self.execute(|data| {
            let Some(entry) = data.journal_entries.get(&JournalEntryId::from_uuid(id.as_uuid())) else {
                return Ok(None);
            };
            redemption_of_entry(entry, data.has_happened(&UniqueOperation::Refund(id)))
        })
    }
}

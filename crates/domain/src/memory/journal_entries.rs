//! Journal entries.

use super::Unit;
use super::data::Data;
use crate::ledger::require;
use crate::model::{Act, JournalEntry, Redemption, ScheduledDate};
use crate::money::Points;
use crate::ports::{JournalEntries, ReadJournalEntries, StoreError};
use crate::recognitions::Receivers;
use crate::values::{JournalEntryId, RedemptionId};

/// Operations that can happen at most once.
#[derive(PartialEq)]
enum Once {
    Refund(RedemptionId),
    Deletion(crate::values::UserId),
    Date(ScheduledDate),
}

fn once(act: &Act) -> Option<Once> {
    match act {
        Act::Refund { redemption, .. } => Some(Once::Refund(*redemption)),
        Act::Deletion { user, .. } => Some(Once::Deletion(*user)),
        Act::Distribution { date, .. } => date.map(Once::Date),
        Act::Founding
        | Act::Rate
        | Act::Move { .. }
        | Act::Sending(_)
        | Act::Amendment { .. }
        | Act::Deposit { .. }
        | Act::Withdrawal { .. }
        | Act::Redemption { .. }
        | Act::Override { .. } => None,
    }
}

/// Whether a journal entry has everything that its kind needs.
fn is_whole(act: &Act) -> bool {
    match act {
        Act::Founding | Act::Rate | Act::Move { .. } | Act::Refund { .. } | Act::Override { .. } => true,
        Act::Sending(sending) => usize::try_from(sending.receivers)
            .is_ok_and(|receivers| (1..=Receivers::MAX).contains(&receivers)),
        Act::Amendment { message, share, .. } => message.is_some() || share.is_some(),
        Act::Deposit { points } | Act::Withdrawal { points } | Act::Redemption { points, .. } => {
            *points > Points::ZERO
        }
        Act::Distribution { points, receivers, .. } => *points > Points::ZERO && *receivers > 0,
        Act::Deletion { wallets, .. } => *wallets <= 3,
    }
}

fn is_name(text: Option<&String>) -> bool {
    text.is_none_or(|text| (1..=255).contains(&text.chars().count()))
}

impl Data {
    fn happened(&self, what: &Once) -> bool {
        self.journal_entries.values().any(|cause| once(&cause.act).as_ref() == Some(what))
    }
}

impl JournalEntries for Unit {
    fn record(&mut self, cause: &JournalEntry) -> Result<(), StoreError> {
        self.run(|data| {
            require(is_whole(&cause.act), "a cause says what its kind needs")?;
            let by = &cause.by;
            require(
                is_name(by.reference.as_ref()) && is_name(by.key.as_ref()),
                "a name has 1 to 255 characters",
            )?;
            let is_known = data.journal_entries.contains_key(&cause.id)
                || once(&cause.act).is_some_and(|what| data.happened(&what));
            require(!is_known, "a cause happens once")?;
            data.journal_entries.insert(cause.id, cause.clone());
            Ok(())
        })
    }
}

impl ReadJournalEntries for Unit {
    fn redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError> {
        self.run(|data| {
            let Some(cause) = data.journal_entries.get(&JournalEntryId::from_uuid(id.as_uuid())) else {
                return Ok(None);
            };
            let Act::Redemption { user, points } = cause.act else { return Ok(None) };
            let amount = cause.rate.amount(points);
            let amount = amount.ok_or_else(|| StoreError::Broken("an amount is out of range".into()))?;
            Ok(Some(Redemption {
                id,
                company_id: cause.company_id,
                user_id: user,
                points,
                amount,
                created_at: cause.created_at,
                is_refunded: data.happened(&Once::Refund(id)),
            }))
        })
    }
}

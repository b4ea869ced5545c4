//! Rows for audits, which must be able to read damaged data: columns are compared as stored, without parsing
//! them into domain types first.

use diesel::prelude::*;
use guerdon_domain::audit::{End, Held, Movement, Sent};
use guerdon_domain::ports::PendingSeal;
use guerdon_domain::values::{CompanyId, JournalEntryId, RecognitionId, UserId};

use super::schema::{accounts, recognitions, seals};
use super::seals::{Chain, FORMAT};
use super::types::{At, Id};
use super::{JournalEntryRow, TransferRow};

impl TransferRow {
    pub(crate) fn movement(&self) -> Movement {
        Movement {
            leg: self.leg,
            company: self.company_id.0,
            debit: End { owner: self.debit_owner.0, kind: self.debit_kind },
            credit: End { owner: self.credit_owner.0, kind: self.credit_kind },
            amount: self.amount,
            points: self.points,
            rate: self.points_per_dollar,
            reason: self.reason,
            created_at: self.created_at.0,
        }
    }

    /// Chains the row as a part of its journal entry.
    pub(crate) fn seal(&self, chain: &mut Chain) {
        chain.number(self.leg);
        chain.bytes(Some(self.company_id.0.as_ref()));
        chain.bytes(Some(self.debit_owner.0.as_bytes()));
        chain.number(self.debit_kind);
        chain.number(self.debit_sequence);
        chain.bytes(Some(self.credit_owner.0.as_bytes()));
        chain.number(self.credit_kind);
        chain.number(self.credit_sequence);
        chain.number(self.amount);
        chain.number(self.points);
        chain.number(self.points_per_dollar);
        chain.number(self.reason);
        chain.number(self.created_at.0.unix_micros());
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = recognitions)]
pub(crate) struct RecognitionFact {
    pub(crate) journal_entry_id: Id<JournalEntryId>,
    leg: i32,
    pub(crate) id: Id<RecognitionId>,
    company_id: Id<CompanyId>,
    sender_id: Id,
    receiver_id: Id<UserId>,
    share: bool,
    message: Option<String>,
    created_at: At,
}

impl RecognitionFact {
    pub(crate) fn sent(&self) -> Sent {
        Sent {
            id: self.id.0,
            leg: self.leg,
            company: self.company_id.0,
            sender: self.sender_id.0,
            receiver: self.receiver_id.0,
            created_at: self.created_at.0,
        }
    }

    pub(crate) fn leg(&self) -> i32 {
        self.leg
    }

    pub(crate) fn sender(&self) -> uuid::Uuid {
        self.sender_id.0
    }

    pub(crate) fn receiver(&self) -> uuid::Uuid {
        self.receiver_id.0.as_uuid()
    }

    /// Chains the parts of the row that never change and are in no transfer, as a part of its journal entry.
    pub(crate) fn seal(&self, chain: &mut Chain) {
        chain.number(self.leg);
        chain.bytes(Some(self.id.0.as_ref()));
        chain.bytes(Some(self.receiver_id.0.as_ref()));
    }

    /// Whether it matches the journal entry that sent it.
    pub(crate) fn is_as_sent_by(&self, sending: &JournalEntryRow<'_>) -> bool {
        self.message.is_none() && sending.shares() == Some(self.share)
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts)]
pub(crate) struct AccountFact {
    pub(crate) owner_id: Id,
    pub(crate) kind: i16,
    balance: i64,
    spent: i64,
    entry_count: i64,
    closed_at: Option<At>,
}

impl AccountFact {
    pub(crate) fn held(&self) -> Held {
        Held {
            owner: self.owner_id.0,
            kind: self.kind,
            balance: self.balance,
            spent: self.spent,
            entry_count: self.entry_count,
            closed: self.closed_at.is_some(),
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = seals, treat_none_as_default_value = false)]
pub(crate) struct SealRow {
    pub(crate) sequence: i64,
    pub(crate) format: i16,
    pub(crate) journal_before: i64,
    pub(crate) journal_entries: i64,
    pub(crate) audit_before: i64,
    pub(crate) audit_entries: i64,
    pub(crate) events: i64,
    pub(crate) events_digest: Vec<u8>,
    pub(crate) head: Vec<u8>,
    pub(crate) created_at: At,
}

impl SealRow {
    pub(crate) fn of(it: &PendingSeal) -> Self {
        Self {
            sequence: it.seal.sequence,
            format: FORMAT,
            journal_before: it.journal_entries.before,
            journal_entries: it.journal_entries.count,
            audit_before: it.entries.before,
            audit_entries: it.entries.count,
            events: it.events,
            events_digest: it.events_digest.to_vec(),
            head: it.seal.head.to_vec(),
            created_at: At(it.seal.created_at),
        }
    }

    /// Chains the whole row, after the rows that the seal covers.
    pub(crate) fn chain_to(&self, chain: &mut Chain) {
        chain.number(self.sequence);
        chain.number(self.journal_before);
        chain.number(self.journal_entries);
        chain.number(self.audit_before);
        chain.number(self.audit_entries);
        chain.number(self.events);
        chain.bytes(Some(&self.events_digest));
        chain.number(self.created_at.0.unix_micros());
    }
}

//! What audits read from rows. Audits must be able to read damaged data, so the rows that they use have their columns
//! as stored, and are not parsed into domain types first.

use diesel::prelude::*;
use guerdon_domain::audit::{AccountKey, StoredAccount, StoredRecognition, StoredTransfer};
use guerdon_domain::ports::PendingSeal;

use super::schema::seals;
use super::seals::{FORMAT, SealChain};
use super::{AccountStateRow, DbTimestamp, JournalEntryRow, RecognitionRow, TransferRow};

impl TransferRow {
    pub(crate) fn to_stored_transfer(&self) -> StoredTransfer {
        StoredTransfer {
            leg: self.leg,
            company: self.company_id.0,
            debit: AccountKey { owner: self.debit_owner.0, kind: self.debit_kind },
            credit: AccountKey { owner: self.credit_owner.0, kind: self.credit_kind },
            amount: self.amount,
            points: self.points,
            rate: self.points_per_dollar,
            reason: self.reason,
            created_at: self.created_at.0,
        }
    }

    /// Chains the row as a part of its journal entry.
    pub(crate) fn chain_to(&self, chain: &mut SealChain) {
        let Self {
            journal_entry_id: _,
            leg,
            company_id,
            debit_owner,
            debit_kind,
            debit_sequence,
            credit_owner,
            credit_kind,
            credit_sequence,
            amount,
            points,
            points_per_dollar,
            reason,
            created_at,
        } = self;
        chain.add_number(*leg);
        chain.add_bytes(Some(company_id.0));
        chain.add_bytes(Some(debit_owner.0));
        chain.add_number(*debit_kind);
        chain.add_number(*debit_sequence);
        chain.add_bytes(Some(credit_owner.0));
        chain.add_number(*credit_kind);
        chain.add_number(*credit_sequence);
        chain.add_number(*amount);
        chain.add_number(*points);
        chain.add_number(*points_per_dollar);
        chain.add_number(*reason);
        chain.add_number(created_at.0.unix_micros());
    }
}

impl RecognitionRow {
    pub(crate) fn to_stored_recognition(&self) -> StoredRecognition {
        StoredRecognition {
            id: self.id.0,
            leg: self.leg,
            company: self.company_id.0,
            sender: self.sender_id.0,
            receiver: self.receiver_id.0,
            created_at: self.created_at.0,
        }
    }

    /// Chains the parts of the row that never change and are in no transfer, as a part of its journal entry.
    pub(crate) fn chain_to(&self, chain: &mut SealChain) {
        let Self {
            journal_entry_id: _,
            leg,
            id,
            company_id: _,
            sender_id: _,
            receiver_id,
            share: _,
            message: _,
            created_at: _,
        } = self;
        chain.add_number(*leg);
        chain.add_bytes(Some(id.0));
        chain.add_bytes(Some(receiver_id.0));
    }

    /// Whether it matches the journal entry that sent it.
    pub(crate) fn matches_entry(&self, entry: &JournalEntryRow<'_>) -> bool {
        self.message.is_none() && entry.share == Some(self.share)
    }
}

impl AccountStateRow {
    pub(crate) fn to_stored_account(&self) -> StoredAccount {
        StoredAccount {
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
    pub(crate) created_at: DbTimestamp,
}

impl SealRow {
    pub(crate) fn from_pending_seal(seal: &PendingSeal) -> Self {
        Self {
            sequence: seal.seal.sequence,
            format: FORMAT,
            journal_before: seal.journal_entries.end,
            journal_entries: seal.journal_entries.count,
            audit_before: seal.audit_entries.end,
            audit_entries: seal.audit_entries.count,
            events: seal.events,
            events_digest: seal.events_digest.to_vec(),
            head: seal.seal.head.to_vec(),
            created_at: DbTimestamp(seal.seal.created_at),
        }
    }

    /// Adds the row to the hash chain, after the rows that this seal covers. Leaves out the head, which is the result,
    /// and the format, with which every chain begins.
    pub(crate) fn chain_to(&self, chain: &mut SealChain) {
        let Self {
            sequence,
            format: _,
            journal_before,
            journal_entries,
            audit_before,
            audit_entries,
            events,
            events_digest,
            head: _,
            created_at,
        } = self;
        chain.add_number(*sequence);
        chain.add_number(*journal_before);
        chain.add_number(*journal_entries);
        chain.add_number(*audit_before);
        chain.add_number(*audit_entries);
        chain.add_number(*events);
        chain.add_bytes(Some(events_digest));
        chain.add_number(created_at.0.unix_micros());
    }
}

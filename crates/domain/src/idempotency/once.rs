//! The first time and every other.

use std::time::Duration;

use crate::ledger::Facts;
use crate::model::{IdempotencyKey, IdempotencyRecord};
use crate::ports::{Idempotency, StoreError, Timestamp};

/// A request that may come again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeatable {
    /// Whose key, and which.
    pub key: IdempotencyKey,
    /// A digest of the whole request, of 32 bytes, by which another request of the same key is known.
    pub request_hash: Vec<u8>,
    /// For how long the answer is kept.
    pub kept: Duration,
}

/// What a key says of a request that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// Do it, and keep what was answered.
    First,
    /// It was done; this was answered.
    Repeat(IdempotencyRecord),
    /// Somebody is doing it at this moment.
    InFlight,
    /// The key was used for another request.
    Misused,
}

impl Repeatable {
    /// Claims the key for this transaction, and looks whether it was used. Never waits.
    pub fn begin<T: Idempotency + ?Sized>(&self, tx: &mut T, now: Timestamp) -> Result<Begun, StoreError> {
        if !tx.claim_key(&self.key)? {
            return Ok(Begun::InFlight);
        }
        Ok(self.judge(tx.idempotency_record(&self.key, now)?))
    }

    /// The same on facts that are loaded.
    pub fn begin_on(&self, facts: &Facts, now: Timestamp) -> Begun {
        if !facts.claimed.contains(&self.key) {
            return Begun::InFlight;
        }
        self.judge(facts.records.get(&self.key).filter(|it| it.expires_at > now).cloned())
    }

    fn judge(&self, record: Option<IdempotencyRecord>) -> Begun {
        match record {
            None => Begun::First,
            Some(record) if record.request_hash == self.request_hash => Begun::Repeat(record),
            Some(_other) => Begun::Misused,
        }
    }

    /// The record of a response that is kept from now on.
    pub fn record(&self, status: u16, body: Vec<u8>, now: Timestamp) -> IdempotencyRecord {
        IdempotencyRecord {
            key: self.key.clone(),
            request_hash: self.request_hash.clone(),
            status,
            body,
            created_at: now,
            expires_at: now.saturating_add(self.kept),
        }
    }

    /// Keeps what was answered, in the transaction of its effects.
    pub fn keep<T: Idempotency + ?Sized>(
        &self,
        tx: &mut T,
        status: u16,
        body: Vec<u8>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        tx.keep_idempotency_record(&self.record(status, body, now))
    }
}

//! Claims idempotency keys, and stores responses under them. A key is claimed in the transaction that
//! executes the request, and the response is stored in the same one, so that a request is executed at most
//! once.

use std::time::Duration;

use crate::ledger::Facts;
use crate::model::{IdempotencyKey, IdempotencyRecord};
use crate::ports::{Idempotency, StoreError, Timestamp};

/// A request that may be retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeatable {
    /// The idempotency key and its scope.
    pub key: IdempotencyKey,
    /// A digest of the whole request, 32 bytes. It detects that a key is used for another request.
    pub request_hash: Vec<u8>,
    /// How long the response is stored.
    pub kept: Duration,
}

/// The state of a key when a request starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// The key is new: execute the request, and store its response.
    First,
    /// The request was executed before. This is its response.
    Repeat(IdempotencyRecord),
    /// Another request with the key is in progress.
    InFlight,
    /// The key was used for another request.
    Misused,
}

impl Repeatable {
    /// Claims the key for this transaction, and checks whether it was used. Never waits.
    pub fn begin<T: Idempotency + ?Sized>(&self, tx: &mut T, now: Timestamp) -> Result<Begun, StoreError> {
        if !tx.claim_key(&self.key)? {
            return Ok(Begun::InFlight);
        }
        Ok(self.judge(tx.idempotency_record(&self.key, now)?))
    }

    /// Checks whether the key was used, on loaded facts.
    pub fn begin_on(&self, facts: &Facts, now: Timestamp) -> Begun {
        if !facts.claimed.contains(&self.key) {
            return Begun::InFlight;
        }
        self.judge(facts.records.get(&self.key).filter(|record| record.expires_at > now).cloned())
    }

    fn judge(&self, record: Option<IdempotencyRecord>) -> Begun {
        match record {
            None => Begun::First,
            Some(record) if record.request_hash == self.request_hash => Begun::Repeat(record),
            Some(_other) => Begun::Misused,
        }
    }

    /// The record of a response that is stored from now on.
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

    /// Stores the response, in the transaction of its effects.
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

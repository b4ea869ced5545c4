//! Idempotency: a request is executed at most once, however often it is retried. An idempotency key identifies the
//! request. The key is claimed in the transaction that executes the request, and the response is stored in the same
//! transaction, for a limited time. Requests of the API and commands of the operator use the same mechanism.

use std::time::Duration;

use crate::ledger::Facts;
use crate::ports::{Idempotency, StoreError, Timestamp};
use crate::values::CompanyId;

pub use crate::model::{IdempotencyKey, IdempotencyRecord};

/// A request that may be retried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// The idempotency key and its scope.
    pub key: IdempotencyKey,
    /// A digest of the whole request, 32 bytes. It detects that a key is used for another request.
    pub request_hash: Vec<u8>,
    /// How long the response is stored.
    pub retention: Duration,
}

/// The state of a key when a request starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// The key is new: execute the request, and store its response.
    Unused,
    /// The request was executed before. This is its response.
    Completed(IdempotencyRecord),
    /// Another request with the key is in progress.
    InFlight,
    /// The key was used for another request.
    Misused,
}

impl IdempotentRequest {
    /// Claims the key for this transaction, and checks whether it was used. Never waits.
    pub fn claim_key<T: Idempotency + ?Sized>(
        &self,
        tx: &mut T,
        now: Timestamp,
    ) -> Result<KeyState, StoreError> {
        if !tx.claim_idempotency_key(&self.key)? {
            return Ok(KeyState::InFlight);
        }
        Ok(self.key_state(tx.find_idempotency_record(&self.key, now)?))
    }

    /// Checks whether the key was used, on loaded facts.
    pub fn check_claimed_key(&self, facts: &Facts, now: Timestamp) -> KeyState {
        if !facts.claimed_keys.contains(&self.key) {
            return KeyState::InFlight;
        }
        self.key_state(
            facts.idempotency_records.get(&self.key).filter(|record| record.expires_at > now).cloned(),
        )
    }

    fn key_state(&self, record: Option<IdempotencyRecord>) -> KeyState {
        match record {
            None => KeyState::Unused,
            Some(record) if record.request_hash == self.request_hash => KeyState::Completed(record),
            Some(_other) => KeyState::Misused,
        }
    }

    /// The record of a response, without a company. It expires one retention period after `now`.
    pub fn new_record(&self, status: u16, body: Vec<u8>, now: Timestamp) -> IdempotencyRecord {
        IdempotencyRecord {
            key: self.key.clone(),
            company_id: None,
            request_hash: self.request_hash.clone(),
            status,
            body,
            created_at: now,
            expires_at: now.saturating_add(self.retention),
        }
    }

    /// Stores the response, in the transaction of its effects. `company` is the company that the request
    /// concerned; `None` if it concerned none or several.
    pub fn store_response<T: Idempotency + ?Sized>(
        &self,
        tx: &mut T,
        company: Option<CompanyId>,
        (status, body): (u16, Vec<u8>),
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let record = self.new_record(status, body, now);
        tx.store_idempotency_record(&IdempotencyRecord { company_id: company, ..record })
    }
}

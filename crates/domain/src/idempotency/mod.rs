//! Idempotency: a request is executed once, however often it is retried. An idempotency key identifies the
//! request, and its response is stored for a limited time. Requests of the API and commands of the operator
//! use the same mechanism.

mod key_claims;

pub use key_claims::{IdempotentRequest, KeyState};

pub use crate::model::{IdempotencyKey, IdempotencyRecord, RESPONSE_RETENTION_DEFAULT};

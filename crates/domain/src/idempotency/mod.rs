//! Idempotency: a request is executed once, however often it is retried. An idempotency key identifies the
//! request, and its response is stored for a limited time. Requests of the API and commands of the operator
//! use the same mechanism.

mod once;

pub use once::{Begun, Repeatable};

pub use crate::model::{IdempotencyKey, IdempotencyRecord, KEPT};

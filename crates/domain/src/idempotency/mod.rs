//! Doing a thing once, however often it is asked for: the key, whose it is, what was answered, and for how long. A
//! request of the API and a command of the operator go the same way.

mod once;

pub use once::{Begun, Repeatable};

pub use crate::model::{IdempotencyKey, IdempotencyRecord, KEPT};

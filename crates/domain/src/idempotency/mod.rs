//! Doing a thing once, however often it is asked for: the key, whose it is, what was answered, and for how long. A
//! request of the API and a command of the operator go the same way.

mod key;
mod once;

pub use key::{IdempotencyKey, IdempotencyRecord, KEPT};
pub use once::{Begun, Repeatable};

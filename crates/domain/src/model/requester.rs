//! Who requested an operation.

use crate::values::stored_enum;

stored_enum! {
    enum Actor {
        /// A provider, through the API.
        Provider => 1;
        /// The operator, with a command.
        Operator => 2;
        /// A schedule, on one of its dates.
        Schedule => 3;
    }
}

/// Who requested an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requester {
    pub actor: Actor,
    /// The id of the request; for a command, the user of the operating system.
    pub reference: Option<String>,
    /// The idempotency key, if any.
    pub key: Option<String>,
}

impl Requester {
    /// A schedule, which has neither a request id nor an idempotency key.
    pub const SCHEDULE: Self = Self { actor: Actor::Schedule, reference: None, key: None };

    /// The operator, without a user of the operating system and without an idempotency key.
    pub const OPERATOR: Self = Self { actor: Actor::Operator, reference: None, key: None };
}

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

/// Who requested an operation, as a use case receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    pub actor: Actor,
    /// The id of the request; for a command, the user of the operating system.
    pub reference: Option<&'a str>,
    /// The idempotency key, if any.
    pub key: Option<&'a str>,
}

/// Who requested an operation, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requester {
    pub actor: Actor,
    /// The id of the request; for a command, the user of the operating system.
    pub reference: Option<String>,
    /// The idempotency key, if any.
    pub key: Option<String>,
}

impl From<Origin<'_>> for Requester {
    fn from(origin: Origin<'_>) -> Self {
        Self {
            actor: origin.actor,
            reference: origin.reference.map(str::to_owned),
            key: origin.key.map(str::to_owned),
        }
    }
}

impl Requester {
    /// A schedule, which has neither a request id nor an idempotency key.
    pub const SCHEDULE: Self = Self { actor: Actor::Schedule, reference: None, key: None };

    /// Converts to the borrowed form.
    pub fn as_origin(&self) -> Origin<'_> {
        Origin { actor: self.actor, reference: self.reference.as_deref(), key: self.key.as_deref() }
    }
}

//! Who asked.

use crate::values::stored;

stored! {
    enum Actor {
        /// A provider, over the API.
        Provider => 1;
        /// The operator, by a command.
        Operator => 2;
        /// A schedule, whose date has come.
        Schedule => 3;
    }
}

/// Who asks for what is being done, as a use case is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    pub actor: Actor,
    /// A request's id; of a command the operating system's user.
    pub reference: Option<&'a str>,
    /// The key under which it may be repeated.
    pub key: Option<&'a str>,
}

/// Who asked, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    pub actor: Actor,
    /// The request's id; of a command the operating system's user.
    pub reference: Option<String>,
    /// The key under which it could be repeated.
    pub key: Option<String>,
}

impl From<Origin<'_>> for By {
    fn from(it: Origin<'_>) -> Self {
        Self { actor: it.actor, reference: it.reference.map(str::to_owned), key: it.key.map(str::to_owned) }
    }
}

impl By {
    /// The same, borrowed.
    pub fn origin(&self) -> Origin<'_> {
        Origin { actor: self.actor, reference: self.reference.as_deref(), key: self.key.as_deref() }
    }
}

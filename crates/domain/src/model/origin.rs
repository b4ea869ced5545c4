//! Who asked.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A provider, over the API.
    Provider,
    /// The operator, by a command.
    Operator,
    /// A schedule, whose date has come.
    Schedule,
}

impl Actor {
    pub const ALL: [Self; 3] = [Self::Provider, Self::Operator, Self::Schedule];

    /// The number kept in the database.
    pub fn code(self) -> i16 {
        match self {
            Self::Provider => 1,
            Self::Operator => 2,
            Self::Schedule => 3,
        }
    }

    /// The actor of a stored number.
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
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

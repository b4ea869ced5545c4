//! Who did what.

use time::OffsetDateTime;

use super::{Named, Stretch};

/// Who asked for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// Over the API.
    Provider(Named),
    /// By a command, as this user of the operating system.
    Operator(String),
    /// A date had come.
    Schedule(String),
}

impl Actor {
    /// The kinds, as parameters name them.
    pub const KINDS: [&'static str; 3] = ["provider", "operator", "schedule"];

    /// Its kind's name.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Provider(_) => "provider",
            Self::Operator(_) => "operator",
            Self::Schedule(_) => "schedule",
        }
    }
}

/// A piece of the log, newest first.
#[derive(Debug, Clone)]
pub struct AuditLog {
    pub list: Stretch<AuditEntry>,
    /// All actions that one can choose among.
    pub actions: Vec<String>,
    /// The company that the log is narrowed to.
    pub company: Option<Named>,
}

/// One thing that was done.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    pub at: OffsetDateTime,
    pub actor: Actor,
    pub action: String,
    /// None where it concerns no company.
    pub company: Option<Named>,
    /// The id of what it was done to, which may be a user's: an id tells no name.
    pub object: Option<String>,
    /// In words or figures, without anybody's name or address.
    pub detail: String,
}

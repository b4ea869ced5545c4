//! The audit log.

use time::OffsetDateTime;

use super::{LogPage, ObjectReference};

/// Who performed an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A provider, over the API.
    Provider(ObjectReference),
    /// An operator, with a command, as this user of the operating system.
    Operator(String),
    /// A schedule whose date was reached.
    Schedule(String),
}

impl Actor {
    /// The kinds, as they appear in query parameters.
    pub const KINDS: [&'static str; 3] = ["provider", "operator", "schedule"];

    /// Returns the name of the kind, one of [`Self::KINDS`].
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Provider(_) => "provider",
            Self::Operator(_) => "operator",
            Self::Schedule(_) => "schedule",
        }
    }
}

/// A section of the log, newest first.
#[derive(Debug, Clone)]
pub struct AuditLog {
    pub list: LogPage<AuditEntry>,
    /// All actions that can be selected.
    pub actions: Vec<String>,
    /// All providers that can be selected.
    pub providers: Vec<ObjectReference>,
    /// The company that the log is narrowed to.
    pub company: CompanyFilterResult,
}

/// The companies that match the requested id, domain or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompanyFilterResult {
    /// No company was requested.
    All,
    One(ObjectReference),
    /// Several names contain the text; the log is empty until one of them is selected.
    Several(Vec<ObjectReference>),
    /// No company matches, so the log is empty.
    Unknown,
}

/// An entry of the audit log.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    pub at: OffsetDateTime,
    pub actor: Actor,
    pub action: String,
    /// `None` if the action does not concern a company.
    pub company: Option<ObjectReference>,
    /// The id of the object, which may be a user. Ids are not treated as personal data here.
    pub object: Option<String>,
    /// A description without names or addresses.
    pub detail: String,
}

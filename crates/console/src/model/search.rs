//! Results of the search over all objects.

/// The kind of an object that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundKind {
    Provider,
    Company,
    User,
    Event,
    Recognition,
    FailedRequest,
}

impl FoundKind {
    /// Returns the name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Company => "company",
            Self::User => "user",
            Self::Event => "event",
            Self::Recognition => "recognition",
            Self::FailedRequest => "failed request",
        }
    }
}

/// An object that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundObject {
    pub kind: FoundKind,
    /// The path of its page.
    pub path: String,
    /// Its name or id.
    pub name: String,
    /// A further detail, such as a domain, or the company of a user.
    pub detail: String,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchOutcome {
    /// Nothing was searched for.
    NoQuery,
    /// The URL contained an email address, which browsers and proxies store with the URL. The search was not performed.
    AddressInUrl,
    /// The objects, at most [`SearchResult::OBJECTS_MAX`] and a link to failed requests.
    Found(Vec<FoundObject>),
}

/// The content of the search page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The text that was searched for; `None` if it is an email address.
    pub text: Option<String>,
    pub outcome: SearchOutcome,
}

impl SearchResult {
    /// The maximum number of objects that are listed, in addition to a link to failed requests.
    pub const OBJECTS_MAX: usize = 50;
}

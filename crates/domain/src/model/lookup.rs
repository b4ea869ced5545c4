//! The answer of a scoped look-up: the only place where "absent" and "another provider's" part ways.

use crate::values::ProviderId;

/// What a provider finds under an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<T> {
    /// Nothing has this id.
    Absent,
    /// It exists and belongs to another provider; nothing of it is told.
    Foreign,
    /// It is the provider's own, or everybody's (a global occasion).
    Own(T),
}

/// Why a named object cannot be used (behaviour 5.4), with the field that named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// No such object: 404 at the API.
    #[error("{0} names nothing that exists")]
    Absent(&'static str),
    /// Another provider's object: 403 at the API.
    #[error("{0} belongs to another provider")]
    Foreign(&'static str),
}

impl<T> Lookup<T> {
    /// Judges a found row by the provider that owns it.
    pub fn judge(scope: ProviderId, found: Option<(ProviderId, T)>) -> Self {
        match found {
            None => Self::Absent,
            Some((owner, _)) if owner != scope => Self::Foreign,
            Some((_, it)) => Self::Own(it),
        }
    }

    /// The object, or the refusal that names `field`.
    pub fn named(self, field: &'static str) -> Result<T, Denied> {
        match self {
            Self::Absent => Err(Denied::Absent(field)),
            Self::Foreign => Err(Denied::Foreign(field)),
            Self::Own(it) => Ok(it),
        }
    }

    /// The same look-up of something derived from what was found.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Absent => Lookup::Absent,
            Self::Foreign => Lookup::Foreign,
            Self::Own(it) => Lookup::Own(change(it)),
        }
    }
}

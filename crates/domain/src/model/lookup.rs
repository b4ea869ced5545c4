//! The result of a scoped lookup. Only this module distinguishes an id that does not exist from the id of
//! another provider's object.

use uuid::Uuid;

use crate::values::ProviderId;

/// The result when a provider looks up an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<T> {
    /// No object has this id.
    Absent,
    /// The object belongs to another provider. Nothing about it is disclosed.
    Foreign,
    /// The object belongs to the provider, or to every provider (a global occasion).
    Own(T),
}

/// Why a referenced object cannot be used (behaviour 5.4), with the field that referred to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// No object has this id.
    #[error("{} {}", .0, self.reason())]
    Absent(&'static str),
    /// The object belongs to another provider.
    #[error("{} {}", .0, self.reason())]
    Foreign(&'static str),
}

/// Why the object that a field of the query or body refers to cannot be used, with the object's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} {id} {}", .denied.field(), .denied.reason())]
pub struct DeniedReference {
    pub id: Uuid,
    pub denied: Denied,
}

impl Denied {
    /// The field that referred to the object.
    pub fn field(self) -> &'static str {
        match self {
            Self::Absent(field) | Self::Foreign(field) => field,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Absent(_) => "does not exist",
            Self::Foreign(_) => "belongs to another provider",
        }
    }
}

impl<T> Lookup<T> {
    /// Returns the lookup result for `found`, a row together with the provider that owns it.
    pub fn in_scope(scope: ProviderId, found: Option<(ProviderId, T)>) -> Self {
        match found {
            None => Self::Absent,
            Some((owner, _)) if owner != scope => Self::Foreign,
            Some((_, object)) => Self::Own(object),
        }
    }

    /// Returns the object, if it belongs to the provider.
    pub fn own(self) -> Option<T> {
        match self {
            Self::Absent | Self::Foreign => None,
            Self::Own(object) => Some(object),
        }
    }

    /// Returns the object, or the refusal with `field`.
    pub fn or_denied(self, field: &'static str) -> Result<T, Denied> {
        match self {
            Self::Absent => Err(Denied::Absent(field)),
            Self::Foreign => Err(Denied::Foreign(field)),
            Self::Own(object) => Ok(object),
        }
    }

    /// Returns the object, or the refusal with `field` and the id that it contains.
    pub fn or_denied_reference(self, field: &'static str, id: Uuid) -> Result<T, DeniedReference> {
        self.or_denied(field).map_err(|denied| DeniedReference { id, denied })
    }

    /// Converts the object with a function that can fail.
    ///
    /// # Errors
    ///
    /// If the function fails.
    pub fn try_map<U, E>(self, change: impl FnOnce(T) -> Result<U, E>) -> Result<Lookup<U>, E> {
        Ok(match self {
            Self::Absent => Lookup::Absent,
            Self::Foreign => Lookup::Foreign,
            Self::Own(object) => Lookup::Own(change(object)?),
        })
    }

    /// Converts the object.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Lookup<U> {
        match self {
            Self::Absent => Lookup::Absent,
            Self::Foreign => Lookup::Foreign,
            Self::Own(object) => Lookup::Own(change(object)),
        }
    }
}

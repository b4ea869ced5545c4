//! Users.

use super::Details;
use crate::values::{CompanyId, EmailAddress, Groups, SingleLine, Timestamp, UserId};

/// The data of a user that a provider sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Unique among the company's active users, case-insensitively.
    pub email: EmailAddress,
    pub first_name: SingleLine,
    /// The last name; `None` only for an owner whose name is a single word (behaviour 11.2).
    pub last_name: Option<SingleLine>,
    pub details: Details,
    /// Whether the manager wallet may be used.
    pub manager: bool,
    /// Whether the user administers the company.
    pub company_admin: bool,
    /// Whether the user administers the corporation; false outside a corporation.
    pub corporation_admin: bool,
    pub groups: Option<Groups>,
    /// Five fields for the provider's own use.
    pub custom_fields: [Option<SingleLine>; 5],
}

impl Profile {
    /// A profile with only a name and an address.
    pub fn with_name(email: EmailAddress, first_name: SingleLine, last_name: Option<SingleLine>) -> Self {
        Self {
            email,
            first_name,
            last_name,
            details: Details::default(),
            manager: false,
            company_admin: false,
            corporation_admin: false,
            groups: None,
            custom_fields: [const { None }; 5],
        }
    }
}

/// A user of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    /// Its company, which never changes.
    pub company_id: CompanyId,
    /// Its data.
    pub profile: Profile,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
}

impl User {
    /// A new user.
    pub(crate) fn new(id: UserId, company_id: CompanyId, profile: Profile, now: Timestamp) -> Self {
        Self { id, company_id, profile, created_at: now, updated_at: now, deleted_at: None }
    }

    /// First and last name.
    pub fn full_name(&self) -> String {
        full_name(&self.profile.first_name, self.profile.last_name.as_ref())
    }
}

/// The fields of a user that are needed to send recognitions and to show a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSummary {
    pub id: UserId,
    pub company_id: CompanyId,
    pub first_name: SingleLine,
    pub last_name: Option<SingleLine>,
    pub email: EmailAddress,
    pub manager: bool,
    /// Whether the user is not deleted.
    pub active: bool,
}

impl UserSummary {
    /// First and last name.
    pub fn full_name(&self) -> String {
        full_name(&self.first_name, self.last_name.as_ref())
    }
}

/// First and last name, joined by a space: the inverse of
/// [`split_full_name`](crate::values::split_full_name).
pub fn full_name(first: &SingleLine, last: Option<&SingleLine>) -> String {
    match last {
        Some(last) => format!("{} {}", first.as_str(), last.as_str()),
        None => first.as_str().to_owned(),
    }
}

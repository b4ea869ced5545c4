//! The user.

use super::Details;
use crate::values::{CompanyId, EmailAddress, Groups, Line, Timestamp, UserId};

/// What is known of a person, as a provider sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Unique among the company's active users, without case.
    pub email: EmailAddress,
    pub first_name: Line,
    /// Last name; none only for an owner named by a single word (behaviour 11.2).
    pub last_name: Option<Line>,
    pub details: Details,
    /// Whether the manager wallet may be used.
    pub manager: bool,
    /// Whether the person administers the company.
    pub company_admin: bool,
    /// Whether the person administers the corporation; false outside any.
    pub corporation_admin: bool,
    pub groups: Option<Groups>,
    /// Five fields of the provider's own.
    pub custom_fields: [Option<Line>; 5],
}

impl Profile {
    /// A profile with nothing but a name and an address.
    pub fn named(email: EmailAddress, first_name: Line, last_name: Option<Line>) -> Self {
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
    /// Its company, for ever.
    pub company_id: CompanyId,
    /// What is known of it.
    pub profile: Profile,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    pub deleted_at: Option<Timestamp>,
}

impl User {
    /// First and last name.
    pub fn full_name(&self) -> String {
        full_name(&self.profile.first_name, self.profile.last_name.as_ref())
    }
}

/// The little of a user that sending and naming needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: UserId,
    pub company_id: CompanyId,
    pub first_name: Line,
    pub last_name: Option<Line>,
    pub email: EmailAddress,
    pub manager: bool,
    /// Whether it is not deleted.
    pub active: bool,
}

impl Person {
    /// First and last name.
    pub fn name(&self) -> String {
        full_name(&self.first_name, self.last_name.as_ref())
    }
}

/// First and last name, joined as they were split.
pub fn full_name(first: &Line, last: Option<&Line>) -> String {
    match last {
        Some(last) => format!("{} {}", first.as_str(), last.as_str()),
        None => first.as_str().to_owned(),
    }
}

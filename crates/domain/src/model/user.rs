//! The user.

use crate::values::{
    CalendarDate, CompanyId, CountryCode, EmailAddress, Groups, Line, MonthDay, Timestamp, UserId,
};

/// What is known of a person, as a provider sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Unique among the company's active users, without case.
    pub email: EmailAddress,
    /// First name.
    pub first_name: Line,
    /// Last name; none only for an owner named by a single word (contract §4.1).
    pub last_name: Option<Line>,
    /// Department.
    pub department: Option<Line>,
    /// Profession title.
    pub title: Option<Line>,
    /// The supervisor's address; need not be a user yet.
    pub supervisor_email: Option<EmailAddress>,
    /// The company's own number for the person.
    pub employee_id: Option<Line>,
    /// Day and month of birth.
    pub birthday: Option<MonthDay>,
    /// ISO 3166 code.
    pub country_code: Option<CountryCode>,
    /// The first day of work.
    pub work_start_date: Option<CalendarDate>,
    /// Office city.
    pub office_city: Option<Line>,
    /// Office state.
    pub office_state: Option<Line>,
    /// Office country.
    pub office_country: Option<Line>,
    /// Whether the manager wallet may be used.
    pub manager: bool,
    /// Whether the person administers the company.
    pub company_admin: bool,
    /// Whether the person administers the corporation; false outside any.
    pub corporation_admin: bool,
    /// Group names.
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
            department: None,
            title: None,
            supervisor_email: None,
            employee_id: None,
            birthday: None,
            country_code: None,
            work_start_date: None,
            office_city: None,
            office_state: None,
            office_country: None,
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
    /// Its id.
    pub id: UserId,
    /// Its company, for ever.
    pub company_id: CompanyId,
    /// What is known of it.
    pub profile: Profile,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was deleted.
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
    /// Its id.
    pub id: UserId,
    /// Its company.
    pub company_id: CompanyId,
    /// First name.
    pub first_name: Line,
    /// Last name.
    pub last_name: Option<Line>,
    /// Its address.
    pub email: EmailAddress,
    /// Whether it is a manager.
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

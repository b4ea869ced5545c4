//! Whom a record of somebody else's is about.

use crate::model::User;
use crate::ports::{ReadUsers, StoreError, Wanted};
use crate::values::{CompanyId, EmailAddress, Line, Page};

/// Whom a record is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    One(Box<User>),
    /// Nobody yet.
    Nobody,
    /// Several active users have the employee id.
    Several,
}

/// The active user of a company who has an employee id, or else an address.
pub fn find<R: ReadUsers + ?Sized>(
    reads: &mut R,
    company: CompanyId,
    employee_id: Option<Line>,
    email: Option<EmailAddress>,
) -> Result<Found, StoreError> {
    let Some(page) = Page::new(1, 2) else { return Ok(Found::Nobody) };
    if employee_id.is_some() {
        let mut found = reads.users(company, &Wanted { employee_id, ..Wanted::default() }, page)?;
        if found.len() > 1 {
            return Ok(Found::Several);
        }
        if let Some(user) = found.pop() {
            return Ok(Found::One(Box::new(user)));
        }
    }
    if email.is_none() {
        return Ok(Found::Nobody);
    }
    let found = reads.users(company, &Wanted { email, ..Wanted::default() }, page)?.pop();
    Ok(found.map_or(Found::Nobody, |it| Found::One(Box::new(it))))
}

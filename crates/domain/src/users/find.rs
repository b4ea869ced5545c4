//! Finds the users to whom records of another system refer.

use std::collections::HashMap;

use crate::model::User;
use crate::ports::{ReadUsers, StoreError};
use crate::values::{CompanyId, EmailAddress, SingleLine};

/// The identifiers by which a record refers to its user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserKey {
    pub employee_id: Option<SingleLine>,
    pub email: Option<EmailAddress>,
}

/// The result of finding the user of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserMatch {
    One(Box<User>),
    /// No active user matches the key.
    NoUser,
    /// Several active users have the employee id.
    Several,
}

/// For each key, finds the active user of a company who has the key's employee id, or the key's address if
/// no user has the employee id.
pub fn match_users<R: ReadUsers + ?Sized>(
    reads: &mut R,
    company: CompanyId,
    keys: &[UserKey],
) -> Result<Vec<UserMatch>, StoreError> {
    let employee_ids: Vec<SingleLine> = keys.iter().filter_map(|key| key.employee_id.clone()).collect();
    let emails: Vec<EmailAddress> = keys.iter().filter_map(|key| key.email.clone()).collect();
    let users = reads.find_active_users_by_keys(company, &employee_ids, &emails)?;
    let mut by_employee_id: HashMap<&str, UserMatch> = HashMap::new();
    let mut by_email: HashMap<&str, &User> = HashMap::new();
    for user in &users {
        by_email.insert(user.profile.email.folded(), user);
        if let Some(employee_id) = &user.profile.details.employee_id {
            let found = by_employee_id.entry(employee_id.as_str()).or_insert(UserMatch::NoUser);
            *found = match found {
                UserMatch::NoUser => UserMatch::One(Box::new(user.clone())),
                UserMatch::One(first) if first.id == user.id => continue, // the user was also found by the address
                UserMatch::One(_) | UserMatch::Several => UserMatch::Several,
            };
        }
    }
    let find = |key: &UserKey| {
        let by_id = key.employee_id.as_ref().and_then(|employee_id| by_employee_id.get(employee_id.as_str()));
        let by_address = key.email.as_ref().and_then(|email| by_email.get(email.folded()));
        match (by_id, by_address) {
            (Some(found), _) => found.clone(),
            (None, Some(user)) => UserMatch::One(Box::new((*user).clone())),
            (None, None) => UserMatch::NoUser,
        }
    };
    Ok(keys.iter().map(find).collect())
}

//! Users.

use super::{Lookup, StoreError, Timestamp};
use crate::users::{Person, User};
use crate::values::{CompanyId, EmailAddress, ProviderId, UserId};

/// Reading users.
pub trait ReadUsers {
    /// The user of an id, deleted ones included.
    fn user(&mut self, scope: ProviderId, id: UserId) -> Result<Lookup<User>, StoreError>;

    /// The people of many ids, in the order of the ids; any number of them.
    fn people(&mut self, scope: ProviderId, ids: &[UserId]) -> Result<Vec<Lookup<Person>>, StoreError>;

    /// The ids of a company's active users, or of its active managers, in the order of ids.
    fn active_users(&mut self, company: CompanyId, managers_only: bool) -> Result<Vec<UserId>, StoreError>;

    /// The addresses of a company's active administrators.
    fn admin_emails(&mut self, company: CompanyId) -> Result<Vec<EmailAddress>, StoreError>;
}

/// Writing users.
pub trait Users: ReadUsers {
    /// Adds a user; `false` where an active user of the company has its email.
    fn insert_user(&mut self, user: &User) -> Result<bool, StoreError>;

    /// Marks a user deleted; `false` where it already was.
    fn mark_user_deleted(&mut self, id: UserId, at: Timestamp) -> Result<bool, StoreError>;
}

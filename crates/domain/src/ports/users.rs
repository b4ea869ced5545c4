//! Users.

use super::{Lookup, StoreError, Timestamp};
use crate::model::{Person, User};
use crate::values::{CompanyId, EmailAddress, Line, Page, ProviderId, UserId};

/// Which users of a company are wanted; all of these must be so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// With this address, compared without case.
    pub email: Option<EmailAddress>,
    pub employee_id: Option<Line>,
    /// Changed then or later.
    pub updated_since: Option<Timestamp>,
    /// Deleted ones too.
    pub deleted: bool,
}

pub trait ReadUsers {
    /// The user of an id, deleted ones included.
    fn user(&mut self, scope: ProviderId, id: UserId) -> Result<Lookup<User>, StoreError>;

    /// The provider a user belongs to: for the operator's commands, which have no scope of their own.
    fn provider_of_user(&mut self, id: UserId) -> Result<Option<ProviderId>, StoreError>;

    /// The people of many ids, in the order of the ids; any number of them.
    fn people(&mut self, scope: ProviderId, ids: &[UserId]) -> Result<Vec<Lookup<Person>>, StoreError>;

    /// The ids of a company's active users, or of its active managers, in the order of ids.
    fn active_users(&mut self, company: CompanyId, managers_only: bool) -> Result<Vec<UserId>, StoreError>;

    /// A page of a company's active users, oldest first, ties by id.
    fn active_users_page(&mut self, company: CompanyId, page: Page) -> Result<Vec<UserId>, StoreError>;

    /// A page of a company's users, oldest first, ties by id.
    fn users(&mut self, company: CompanyId, wanted: &Wanted, page: Page) -> Result<Vec<User>, StoreError>;

    /// How many users all pages list.
    fn user_count(&mut self, company: CompanyId, wanted: &Wanted) -> Result<i64, StoreError>;

    /// The active user of a company who has an address, compared without case.
    fn active_user_by_email(
        &mut self,
        company: CompanyId,
        email: &EmailAddress,
    ) -> Result<Option<UserId>, StoreError>;

    /// The active users of a company who have any of these employee ids or any of these addresses, in any order; one may be
    /// in it twice.
    fn active_users_of(
        &mut self,
        company: CompanyId,
        employee_ids: &[Line],
        emails: &[EmailAddress],
    ) -> Result<Vec<User>, StoreError>;

    /// The addresses of a company's active administrators.
    fn admin_emails(&mut self, company: CompanyId) -> Result<Vec<EmailAddress>, StoreError>;
}

/// How many users [`Users::insert_users`] takes: one statement of either database has room for their values.
pub const INSERTED_USERS_MAX: usize = 500;

/// Writing users.
pub trait Users: ReadUsers {
    /// Adds a user; `false` where an active user of the company has its email.
    fn insert_user(&mut self, user: &User) -> Result<bool, StoreError>;

    /// Adds up to [`INSERTED_USERS_MAX`] users, apart from those whose email an active user of their company has. Returns the
    /// ids of those that were added, in any order.
    fn insert_users(&mut self, users: &[User]) -> Result<Vec<UserId>, StoreError>;

    /// Writes everything that can change of a user that this transaction holds.
    fn update_user(&mut self, user: &User) -> Result<(), StoreError>;

    /// Takes the corporation's administration from all users of a company.
    fn clear_corporation_admins(&mut self, company: CompanyId, at: Timestamp) -> Result<(), StoreError>;
}

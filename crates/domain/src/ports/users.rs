//! Users.

use super::{Lookup, StoreError, Timestamp};
use crate::model::{User, UserSummary};
use crate::values::{CompanyId, EmailAddress, Page, ProviderId, SingleLine, UserId};

/// A query of a company's users. All conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserQuery {
    /// Only users with this address, compared case-insensitively.
    pub email: Option<EmailAddress>,
    pub employee_id: Option<SingleLine>,
    /// Only users that were changed at this time or later.
    pub updated_since: Option<Timestamp>,
    /// Whether deleted users are included.
    pub include_deleted: bool,
}

pub trait ReadUsers {
    /// Looks up a user, even a deleted one.
    fn find_user(&mut self, scope: ProviderId, id: UserId) -> Result<Lookup<User>, StoreError>;

    /// The provider of a user. For the operator's commands, which are not scoped to a provider.
    fn provider_of_user(&mut self, id: UserId) -> Result<Option<ProviderId>, StoreError>;

    /// Looks up any number of users, in the order of `ids`.
    fn find_user_summaries(
        &mut self,
        scope: ProviderId,
        ids: &[UserId],
    ) -> Result<Vec<Lookup<UserSummary>>, StoreError>;

    /// The ids of a company's active users, or of its active managers, sorted by id.
    fn list_active_user_ids(
        &mut self,
        company: CompanyId,
        managers_only: bool,
    ) -> Result<Vec<UserId>, StoreError>;

    /// A page of a company's active users, oldest first, ties by id.
    fn list_active_user_ids_page(
        &mut self,
        company: CompanyId,
        page: Page,
    ) -> Result<Vec<UserId>, StoreError>;

    /// A page of a company's users, oldest first, ties by id.
    fn list_users(
        &mut self,
        company: CompanyId,
        query: &UserQuery,
        page: Page,
    ) -> Result<Vec<User>, StoreError>;

    /// The number of users on all pages.
    fn count_users(&mut self, company: CompanyId, query: &UserQuery) -> Result<i64, StoreError>;

    /// The active user of a company with an address, compared case-insensitively.
    fn find_active_user_by_email(
        &mut self,
        company: CompanyId,
        email: &EmailAddress,
    ) -> Result<Option<UserId>, StoreError>;

    /// The active users of a company who have any of these employee ids or any of these addresses, in any
    /// order. A user may occur twice.
    fn find_active_users_by_keys(
        &mut self,
        company: CompanyId,
        employee_ids: &[SingleLine],
        emails: &[EmailAddress],
    ) -> Result<Vec<User>, StoreError>;

    /// The addresses of a company's active administrators.
    fn list_admin_emails(&mut self, company: CompanyId) -> Result<Vec<EmailAddress>, StoreError>;
}

/// The maximum number of users for [`Users::insert_users`], so that their values fit into one statement on
/// either database.
pub const INSERTED_USERS_MAX: usize = 500;

/// Writes users.
pub trait Users: ReadUsers {
    /// Adds a user; `false` if an active user of the company has the same email address.
    fn insert_user(&mut self, user: &User) -> Result<bool, StoreError>;

    /// Adds up to [`INSERTED_USERS_MAX`] users, except those whose email address belongs to an active user of
    /// their company. Returns the ids of the added users, in any order.
    fn insert_users(&mut self, users: &[User]) -> Result<Vec<UserId>, StoreError>;

    /// Writes all changeable fields of a user that this transaction has locked.
    fn update_user(&mut self, user: &User) -> Result<(), StoreError>;

    /// Removes the corporation administrator role from all users of a company.
    fn clear_corporation_admins(&mut self, company: CompanyId, at: Timestamp) -> Result<(), StoreError>;
}

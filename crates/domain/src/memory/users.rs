//! Users.

use super::MemoryTx;
use super::data::{StoreData, count_items, page_of};
use crate::ledger::require_rule;
use crate::model::{User, UserSummary};
use crate::ports::{Lookup, ReadUsers, StoreError, Timestamp, UserQuery, Users};
use crate::values::{CompanyId, EmailAddress, Page, ProviderId, SingleLine, UserId};

impl StoreData {
    /// A company's active users, sorted by id.
    pub(super) fn active_users(&self, company: CompanyId) -> impl Iterator<Item = &User> {
        self.users.values().filter(move |user| user.company_id == company && user.deleted_at.is_none())
    }

    fn matching_users<'a>(
        &'a self,
        company: CompanyId,
        query: &'a UserQuery,
    ) -> impl Iterator<Item = &'a User> {
        let matches = move |user: &&User| {
            user.company_id == company
                && (query.include_deleted || user.deleted_at.is_none())
                && query.email.as_ref().is_none_or(|email| user.profile.email == *email)
                && (query.employee_id.is_none() || user.profile.details.employee_id == query.employee_id)
                && query.updated_since.is_none_or(|since| user.updated_at >= since)
        };
        self.users.values().filter(matches)
    }

    fn find_with_provider(&self, id: UserId) -> Option<(ProviderId, &User)> {
        let user = self.users.get(&id)?;
        Some((self.companies.get(&user.company_id)?.provider_id, user))
    }

    /// Whether another active user of the company has the address.
    fn is_email_taken(&self, user: &User) -> bool {
        let mut active = self.active_users(user.company_id);
        user.deleted_at.is_none()
            && active.any(|other| other.id != user.id && other.profile.email == user.profile.email)
    }
}

pub(super) fn to_summary(user: &User) -> UserSummary {
    UserSummary {
        id: user.id,
        company_id: user.company_id,
        first_name: user.profile.first_name.clone(),
        last_name: user.profile.last_name.clone(),
        email: user.profile.email.clone(),
        manager: user.profile.manager,
        active: user.deleted_at.is_none(),
    }
}

impl ReadUsers for MemoryTx {
    fn find_user(&mut self, scope: ProviderId, id: UserId) -> Result<Lookup<User>, StoreError> {
        self.query(|data| Lookup::in_scope(scope, data.find_with_provider(id)).map(User::clone))
    }

    fn provider_of_user(&mut self, id: UserId) -> Result<Option<ProviderId>, StoreError> {
        self.query(|data| data.find_with_provider(id).map(|(provider, _)| provider))
    }

    fn find_user_summaries(
        &mut self,
        scope: ProviderId,
        ids: &[UserId],
    ) -> Result<Vec<Lookup<UserSummary>>, StoreError> {
        self.query(|data| {
            ids.iter()
                .map(|id| Lookup::in_scope(scope, data.find_with_provider(*id)).map(to_summary))
                .collect()
        })
    }

    fn list_active_user_ids(
        &mut self,
        company: CompanyId,
        managers_only: bool,
    ) -> Result<Vec<UserId>, StoreError> {
        self.query(|data| {
            data.active_users(company)
                .filter(|user| user.profile.manager || !managers_only)
                .map(|user| user.id)
                .collect()
        })
    }

    fn list_active_user_ids_page(
        &mut self,
        company: CompanyId,
        page: Page,
    ) -> Result<Vec<UserId>, StoreError> {
        self.query(|data| {
            let found = page_of(data.active_users(company), |item| (item.created_at, item.id), page);
            found.into_iter().map(|user| user.id).collect()
        })
    }

    fn list_users(
        &mut self,
        company: CompanyId,
        query: &UserQuery,
        page: Page,
    ) -> Result<Vec<User>, StoreError> {
        self.query(|data| {
            let found = page_of(data.matching_users(company, query), |item| (item.created_at, item.id), page);
            found.into_iter().cloned().collect()
        })
    }

    fn count_users(&mut self, company: CompanyId, query: &UserQuery) -> Result<i64, StoreError> {
        self.query(|data| count_items(data.matching_users(company, query)))
    }

    fn find_active_user_by_email(
        &mut self,
        company: CompanyId,
        email: &EmailAddress,
    ) -> Result<Option<UserId>, StoreError> {
        self.query(|data| {
            data.active_users(company).find(|user| user.profile.email == *email).map(|user| user.id)
        })
    }

    fn find_active_users_by_keys(
        &mut self,
        company: CompanyId,
        employee_ids: &[SingleLine],
        emails: &[EmailAddress],
    ) -> Result<Vec<User>, StoreError> {
        self.query(|data| {
            let is_named = |user: &&User| {
                let employee_id = user.profile.details.employee_id.as_ref();
                employee_id.is_some_and(|employee_id| employee_ids.contains(employee_id))
                    || emails.contains(&user.profile.email)
            };
            data.active_users(company).filter(is_named).cloned().collect()
        })
    }

    fn list_admin_emails(&mut self, company: CompanyId) -> Result<Vec<EmailAddress>, StoreError> {
        self.query(|data| {
            let admins = data.active_users(company).filter(|user| user.profile.company_admin);
            admins.map(|admin| admin.profile.email.clone()).collect()
        })
    }
}

impl Users for MemoryTx {
    fn insert_user(&mut self, user: &User) -> Result<bool, StoreError> {
        self.execute(|data| {
            if data.users.contains_key(&user.id) || data.is_email_taken(user) {
                return Ok(false);
            }
            require_rule(data.companies.contains_key(&user.company_id), "the company exists")?;
            data.users.insert(user.id, user.clone());
            Ok(true)
        })
    }

    fn insert_users(&mut self, users: &[User]) -> Result<Vec<UserId>, StoreError> {
        let mut inserted = Vec::new();
        for user in users {
            if self.insert_user(user)? {
                inserted.push(user.id);
            }
        }
        Ok(inserted)
    }

    fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
        self.execute(|data| {
            require_rule(
                !data.is_email_taken(user),
                "email addresses are unique among a company's active users",
            )?;
            data.users.entry(user.id).and_modify(|stored| stored.clone_from(user));
            Ok(())
        })
    }

    fn clear_corporation_admins(&mut self, company: CompanyId, at: Timestamp) -> Result<(), StoreError> {
        self.execute(|data| {
            let all = data.users.values_mut();
            let active = all.filter(|user| user.company_id == company && user.deleted_at.is_none());
            for user in active.filter(|user| user.profile.corporation_admin) {
                (user.profile.corporation_admin, user.updated_at) = (false, at);
            }
            Ok(())
        })
    }
}

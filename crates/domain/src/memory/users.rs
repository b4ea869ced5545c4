//! Users.

use super::Unit;
use super::data::{Data, count, page_of};
use crate::ledger::require;
use crate::model::{Person, User};
use crate::ports::{Lookup, ReadUsers, StoreError, Timestamp, Users, Wanted};
use crate::values::{CompanyId, EmailAddress, Line, Page, ProviderId, UserId};

impl Data {
    /// A company's active users, in the order of ids.
    pub(super) fn active(&self, company: CompanyId) -> impl Iterator<Item = &User> {
        self.users.values().filter(move |user| user.company_id == company && user.deleted_at.is_none())
    }

    fn wanted<'a>(&'a self, company: CompanyId, wanted: &'a Wanted) -> impl Iterator<Item = &'a User> {
        let is_wanted = move |user: &&User| {
            user.company_id == company
                && (wanted.deleted || user.deleted_at.is_none())
                && wanted.email.as_ref().is_none_or(|email| user.profile.email == *email)
                && (wanted.employee_id.is_none() || user.profile.details.employee_id == wanted.employee_id)
                && wanted.updated_since.is_none_or(|since| user.updated_at >= since)
        };
        self.users.values().filter(is_wanted)
    }

    fn scoped(&self, id: UserId) -> Option<(ProviderId, &User)> {
        let user = self.users.get(&id)?;
        Some((self.companies.get(&user.company_id)?.provider_id, user))
    }

    /// Whether another active user of the company has the address.
    fn is_email_taken(&self, user: &User) -> bool {
        let mut active = self.active(user.company_id);
        user.deleted_at.is_none()
            && active.any(|other| other.id != user.id && other.profile.email == user.profile.email)
    }
}

pub(super) fn person(user: &User) -> Person {
    Person {
        id: user.id,
        company_id: user.company_id,
        first_name: user.profile.first_name.clone(),
        last_name: user.profile.last_name.clone(),
        email: user.profile.email.clone(),
        manager: user.profile.manager,
        active: user.deleted_at.is_none(),
    }
}

impl ReadUsers for Unit {
    fn user(&mut self, scope: ProviderId, id: UserId) -> Result<Lookup<User>, StoreError> {
        self.read(|data| Lookup::judge(scope, data.scoped(id)).map(User::clone))
    }

    fn provider_of_user(&mut self, id: UserId) -> Result<Option<ProviderId>, StoreError> {
        self.read(|data| data.scoped(id).map(|(provider, _)| provider))
    }

    fn people(&mut self, scope: ProviderId, ids: &[UserId]) -> Result<Vec<Lookup<Person>>, StoreError> {
        self.read(|data| ids.iter().map(|id| Lookup::judge(scope, data.scoped(*id)).map(person)).collect())
    }

    fn active_users(&mut self, company: CompanyId, managers_only: bool) -> Result<Vec<UserId>, StoreError> {
        self.read(|data| {
            data.active(company)
                .filter(|user| user.profile.manager || !managers_only)
                .map(|user| user.id)
                .collect()
        })
    }

    fn active_users_page(&mut self, company: CompanyId, page: Page) -> Result<Vec<UserId>, StoreError> {
        self.read(|data| {
            let found = page_of(data.active(company), |item| (item.created_at, item.id), page);
            found.into_iter().map(|user| user.id).collect()
        })
    }

    fn users(&mut self, company: CompanyId, wanted: &Wanted, page: Page) -> Result<Vec<User>, StoreError> {
        self.read(|data| {
            let found = page_of(data.wanted(company, wanted), |item| (item.created_at, item.id), page);
            found.into_iter().cloned().collect()
        })
    }

    fn user_count(&mut self, company: CompanyId, wanted: &Wanted) -> Result<i64, StoreError> {
        self.read(|data| count(data.wanted(company, wanted)))
    }

    fn active_user_by_email(
        &mut self,
        company: CompanyId,
        email: &EmailAddress,
    ) -> Result<Option<UserId>, StoreError> {
        self.read(|data| data.active(company).find(|user| user.profile.email == *email).map(|user| user.id))
    }

    fn active_users_of(
        &mut self,
        company: CompanyId,
        employee_ids: &[Line],
        emails: &[EmailAddress],
    ) -> Result<Vec<User>, StoreError> {
        self.read(|data| {
            let is_named = |user: &&User| {
                let employee_id = user.profile.details.employee_id.as_ref();
                employee_id.is_some_and(|employee_id| employee_ids.contains(employee_id))
                    || emails.contains(&user.profile.email)
            };
            data.active(company).filter(is_named).cloned().collect()
        })
    }

    fn admin_emails(&mut self, company: CompanyId) -> Result<Vec<EmailAddress>, StoreError> {
        self.read(|data| {
            let admins = data.active(company).filter(|user| user.profile.company_admin);
            admins.map(|admin| admin.profile.email.clone()).collect()
        })
    }
}

impl Users for Unit {
    fn insert_user(&mut self, user: &User) -> Result<bool, StoreError> {
        self.run(|data| {
            if data.users.contains_key(&user.id) || data.is_email_taken(user) {
                return Ok(false);
            }
            require(data.companies.contains_key(&user.company_id), "no company has this id")?;
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
        self.run(|data| {
            require(!data.is_email_taken(user), "an active user of the company has this address")?;
            if let Some(stored) = data.users.get_mut(&user.id) {
                *stored = user.clone();
            }
            Ok(())
        })
    }

    fn clear_corporation_admins(&mut self, company: CompanyId, at: Timestamp) -> Result<(), StoreError> {
        self.run(|data| {
            let all = data.users.values_mut();
            let active = all.filter(|user| user.company_id == company && user.deleted_at.is_none());
            for user in active.filter(|user| user.profile.corporation_admin) {
                (user.profile.corporation_admin, user.updated_at) = (false, at);
            }
            Ok(())
        })
    }
}

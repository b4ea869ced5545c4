//! Users.

use std::collections::HashMap;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::ports::{Lookup, ReadCompanies as _, ReadUsers, StoreError, Timestamp, UserQuery, Users};
use guerdon_domain::users::{User, UserSummary};
use guerdon_domain::values::{CompanyId, EmailAddress, Page, ProviderId, SingleLine, UserId};

use super::{Db, Unit, into_id};
use crate::rows::conditions::IS_ACTIVE_ADMIN;
use crate::rows::schema::{companies, users};
use crate::rows::{DbTimestamp, Id, RowReader, UserRow, UserSummaryRow};

/// The maximum number of ids of one query. Its result is in memory twice for a short time.
const IDS_PER_QUERY: usize = 2_000;

impl Unit<'_> {
    /// The rows of up to `IDS_PER_QUERY` ids with the provider of each. A single id uses the cached statement.
    fn load_summaries(
        &mut self,
        ids: &[UserId],
    ) -> Result<Vec<(Id<ProviderId>, UserSummaryRow)>, StoreError> {
        let found = users::table.inner_join(companies::table);
        let columns = (companies::provider_id, UserSummaryRow::as_select());
        match ids {
            [one] => self.query(|conn| found.filter(users::id.eq(Id(one))).select(columns).get_results(conn)),
            many => {
                let many: Vec<Id<UserId>> = many.iter().map(|id| Id(*id)).collect();
                self.query(|conn| found.filter(users::id.eq_any(&many)).select(columns).get_results(conn))
            }
        }
    }
}

/// The users of a company that match.
fn users_matching(company: CompanyId, wanted: &UserQuery) -> users::BoxedQuery<'_, Db> {
    let mut found = users::table.filter(users::company_id.eq(Id(company))).into_boxed();
    if !wanted.include_deleted {
        found = found.filter(users::deleted_at.is_null());
    }
    if let Some(email) = &wanted.email {
        found = found.filter(users::email_folded.eq(email.folded()));
    }
    if let Some(employee_id) = &wanted.employee_id {
        found = found.filter(users::employee_id.eq(employee_id.as_str()));
    }
    if let Some(since) = wanted.updated_since {
        found = found.filter(users::updated_at.ge(DbTimestamp(since)));
    }
    found
}

impl ReadUsers for Unit<'_> {
    fn find_user(&mut self, scope: ProviderId, id: UserId) -> Result<Lookup<User>, StoreError> {
        self.find_in_scope(scope, UserRow::into_user, |conn| {
            users::table
                .inner_join(companies::table)
                .filter(users::id.eq(Id(id)))
                .select((companies::provider_id, UserRow::as_select()))
                .get_result(conn)
        })
    }

    fn provider_of_user(&mut self, id: UserId) -> Result<Option<ProviderId>, StoreError> {
        self.find(into_id, |conn| {
            users::table
                .inner_join(companies::table)
                .filter(users::id.eq(Id(id)))
                .select(companies::provider_id)
                .get_result(conn)
        })
    }

    fn find_user_summaries(
        &mut self,
        scope: ProviderId,
        ids: &[UserId],
    ) -> Result<Vec<Lookup<UserSummary>>, StoreError> {
        let mut found = HashMap::with_capacity(ids.len());
        for slice in ids.chunks(IDS_PER_QUERY) {
            for (owner, row) in self.load_summaries(slice)? {
                let id = row.id.0;
                let user =
                    Lookup::in_scope(scope, Some((owner.0, row))).try_map(UserSummaryRow::into_summary);
                found.insert(id, self.record_failure(user)?);
            }
        }
        Ok(ids.iter().map(|id| found.remove(id).unwrap_or(Lookup::Absent)).collect())
    }

    fn list_active_user_ids(
        &mut self,
        company: CompanyId,
        managers_only: bool,
    ) -> Result<Vec<UserId>, StoreError> {
        let active = users::table
            .filter(users::company_id.eq(Id(company)))
            .filter(users::deleted_at.is_null())
            .order(users::id)
            .select(users::id);
        self.list(into_id, |conn| {
            if managers_only {
                active.filter(users::manager.eq(true)).get_results(conn)
            } else {
                active.get_results(conn)
            }
        })
    }

    fn list_active_user_ids_page(
        &mut self,
        company: CompanyId,
        page: Page,
    ) -> Result<Vec<UserId>, StoreError> {
        self.list(into_id, |conn| {
            users::table
                .filter(users::company_id.eq(Id(company)).and(users::deleted_at.is_null()))
                .order((users::created_at, users::id))
                .limit(page.limit())
                .offset(page.offset())
                .select(users::id)
                .get_results(conn)
        })
    }

    fn list_users(
        &mut self,
        company: CompanyId,
        which: &UserQuery,
        page: Page,
    ) -> Result<Vec<User>, StoreError> {
        self.list(UserRow::into_user, |conn| {
            users_matching(company, which)
                .order((users::created_at, users::id))
                .limit(page.limit())
                .offset(page.offset())
                .select(UserRow::as_select())
                .get_results(conn)
        })
    }

    fn count_users(&mut self, company: CompanyId, which: &UserQuery) -> Result<i64, StoreError> {
        if *which == UserQuery::default() {
            return self.count_active_users(company);
        }
        self.query(|conn| users_matching(company, which).count().get_result(conn))
    }

    fn find_active_user_by_email(
        &mut self,
        company: CompanyId,
        email: &EmailAddress,
    ) -> Result<Option<UserId>, StoreError> {
        self.find(into_id, |conn| {
            users::table
                .filter(users::company_id.eq(Id(company)))
                .filter(users::email_folded.eq(email.folded()).and(users::deleted_at.is_null()))
                .select(users::id)
                .get_result(conn)
        })
    }

    fn find_active_users_by_keys(
        &mut self,
        company: CompanyId,
        employee_ids: &[SingleLine],
        emails: &[EmailAddress],
    ) -> Result<Vec<User>, StoreError> {
        // Two queries instead of an OR: each is one index scan. The literal keeps diesel from preparing them in
        // advance, so that PostgreSQL plans them with their keys: a plan from when the table was almost empty would
        // compare each user of the company with each key.
        let active = || {
            let of_company = users::company_id.eq(Id(company)).and(users::deleted_at.is_null());
            users::table.filter(of_company.and(sql::<Bool>("TRUE"))).select(UserRow::as_select())
        };
        let mut found = Vec::new();
        if !employee_ids.is_empty() {
            let ids: Vec<&str> = employee_ids.iter().map(SingleLine::as_str).collect();
            found.append(&mut self.list(UserRow::into_user, |conn| {
                active().filter(users::employee_id.eq_any(&ids)).get_results(conn)
            })?);
        }
        if !emails.is_empty() {
            let emails: Vec<&str> = emails.iter().map(EmailAddress::folded).collect();
            found.append(&mut self.list(UserRow::into_user, |conn| {
                active().filter(users::email_folded.eq_any(&emails)).get_results(conn)
            })?);
        }
        Ok(found)
    }

    fn list_admin_emails(&mut self, company: CompanyId) -> Result<Vec<EmailAddress>, StoreError> {
        let convert = |(id, email): (Id<UserId>, String)| {
            RowReader { table: "users", id: &id.0 }.parse_column("email", &email, EmailAddress::parse)
        };
        self.list(convert, |conn| {
            users::table
                .filter(users::company_id.eq(Id(company)))
                .filter(sql::<Bool>(IS_ACTIVE_ADMIN))
                .order(users::id)
                .select((users::id, users::email))
                .get_results(conn)
        })
    }
}

impl Users for Unit<'_> {
    fn insert_user(&mut self, user: &User) -> Result<bool, StoreError> {
        let row = UserRow::from_user(user);
        let inserted = self.query(|conn| {
            diesel::insert_into(users::table).values(&row).on_conflict_do_nothing().execute(conn)
        })?;
        Ok(inserted == 1)
    }

    fn insert_users(&mut self, users: &[User]) -> Result<Vec<UserId>, StoreError> {
        let rows: Vec<UserRow> = users.iter().map(UserRow::from_user).collect();
        self.list(into_id, |conn| {
            diesel::insert_into(users::table)
                .values(&rows)
                .on_conflict_do_nothing()
                .returning(users::id)
                .get_results(conn)
        })
    }

    fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
        let row = UserRow::from_user(user);
        let id = Id(user.id);
        self.execute(|conn| diesel::update(users::table.find(id)).set(&row).execute(conn))
    }

    fn clear_corporation_admins(&mut self, company: CompanyId, at: Timestamp) -> Result<(), StoreError> {
        self.query(super::disable_statement_timeout)?; // a company may have many users
        self.execute(|conn| {
            diesel::update(users::table)
                .filter(users::company_id.eq(Id(company)).and(users::corporation_admin.eq(true)))
                .filter(users::deleted_at.is_null())
                .set((users::corporation_admin.eq(false), users::updated_at.eq(DbTimestamp(at))))
                .execute(conn)
        })
    }
}

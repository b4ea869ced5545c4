//! Companies.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::companies::{Company, CompanyWithOwner};
use guerdon_domain::ports::{Companies, Lookup, ReadCompanies, StoreError};
use guerdon_domain::values::{CompanyId, CorporationId, DomainName, Page, ProviderId};

use super::Unit;
use crate::rows::schema::{active_users, companies, users};
use crate::rows::types::Id;
use crate::rows::{CompanyRow, OwnerRow};

type CompanyColumns = Option<(CompanyRow<'static>, OwnerRow)>;

impl Unit<'_> {
    fn check_scope(
        &mut self,
        scope: ProviderId,
        found: CompanyColumns,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        let found = found.map(|(company, owner)| (company.provider_id.0, (company, owner)));
        let found = Lookup::in_scope(scope, found);
        self.record_failure(found.try_map(|(company, owner)| company.into_company_with_owner(owner)))
    }
}

impl ReadCompanies for Unit<'_> {
    fn find_company(
        &mut self,
        scope: ProviderId,
        id: CompanyId,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        let found = self.query(|conn| {
            companies::table
                .inner_join(users::table.on(users::id.eq(companies::owner_id)))
                .filter(companies::id.eq(Id(id)))
                .select((CompanyRow::as_select(), OwnerRow::as_select()))
                .get_result(conn)
                .optional()
        })?;
        self.check_scope(scope, found)
    }

    fn find_company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        let found = self.query(|conn| {
            companies::table
                .inner_join(users::table.on(users::id.eq(companies::owner_id)))
                .filter(companies::domain.eq(domain.as_str()))
                .select((CompanyRow::as_select(), OwnerRow::as_select()))
                .get_result(conn)
                .optional()
        })?;
        self.check_scope(scope, found)
    }

    fn company_id_by_domain(&mut self, domain: &DomainName) -> Result<Option<CompanyId>, StoreError> {
        let found: Option<Id<CompanyId>> = self.query(|conn| {
            companies::table
                .filter(companies::domain.eq(domain.as_str()))
                .select(companies::id)
                .get_result(conn)
                .optional()
        })?;
        Ok(found.map(|found| found.0))
    }

    fn list_companies(
        &mut self,
        scope: ProviderId,
        within: Option<CorporationId>,
        page: Page,
    ) -> Result<Vec<CompanyWithOwner>, StoreError> {
        let found: Vec<(CompanyRow<'static>, OwnerRow)> = self.query(|conn| {
            let all = companies::table
                .inner_join(users::table.on(users::id.eq(companies::owner_id)))
                .filter(companies::provider_id.eq(Id(scope)))
                .order((companies::created_at, companies::id))
                .limit(page.limit())
                .offset(page.offset())
                .select((CompanyRow::as_select(), OwnerRow::as_select()));
            match within {
                None => all.get_results(conn),
                Some(corporation) => {
                    all.filter(companies::corporation_id.eq(Id(corporation))).get_results(conn)
                }
            }
        })?;
        self.record_failure(
            found.into_iter().map(|(company, owner)| company.into_company_with_owner(owner)).collect(),
        )
    }

    fn count_companies(
        &mut self,
        scope: ProviderId,
        within: Option<CorporationId>,
    ) -> Result<i64, StoreError> {
        self.query(|conn| {
            let all = companies::table.filter(companies::provider_id.eq(Id(scope)));
            match within {
                None => all.count().get_result(conn),
                Some(corporation) => {
                    all.filter(companies::corporation_id.eq(Id(corporation))).count().get_result(conn)
                }
            }
        })
    }

    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError> {
        let found: Option<Id<ProviderId>> = self.query(|conn| {
            companies::table.find(Id(id)).select(companies::provider_id).get_result(conn).optional()
        })?;
        Ok(found.map(|found| found.0))
    }

    fn count_active_users(&mut self, id: CompanyId) -> Result<i64, StoreError> {
        let parts = sql::<BigInt>("CAST(COALESCE(SUM(number), 0) AS bigint)");
        self.query(|conn| {
            active_users::table.filter(active_users::company_id.eq(Id(id))).select(parts).get_result(conn)
        })
    }
}

impl Companies for Unit<'_> {
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError> {
        let row = CompanyRow::from_company(company);
        let inserted = self.query(|conn| {
            diesel::insert_into(companies::table).values(&row).on_conflict_do_nothing().execute(conn)
        })?;
        Ok(inserted == 1)
    }

    fn update_company(&mut self, company: &Company) -> Result<(), StoreError> {
        let row = CompanyRow::from_company(company);
        self.execute(|conn| diesel::update(companies::table.find(Id(company.id))).set(&row).execute(conn))
    }
}

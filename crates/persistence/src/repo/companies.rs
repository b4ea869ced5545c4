//! Companies.

use diesel::dsl::{AsSelect, sql};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::companies::{Company, CompanyWithOwner};
use guerdon_domain::ports::{Companies, Lookup, ReadCompanies, StoreError};
use guerdon_domain::values::{CompanyId, CorporationId, DomainName, Page, ProviderId};

use super::{Db, Unit, into_id};
use crate::rows::schema::{active_users, companies, users};
use crate::rows::{CompanyRow, Id, OwnerRow};

/// Companies with the ids of their providers and with their owners.
#[diesel::dsl::auto_type]
fn companies_with_owners() -> _ {
    let columns: (AsSelect<CompanyRow<'static>, Db>, AsSelect<OwnerRow, Db>) =
        (CompanyRow::as_select(), OwnerRow::as_select());
    companies::table
        .inner_join(users::table.on(users::id.eq(companies::owner_id)))
        .select((companies::provider_id, columns))
}

fn into_company((company, owner): (CompanyRow<'static>, OwnerRow)) -> Result<CompanyWithOwner, StoreError> {
    company.into_company_with_owner(owner)
}

impl ReadCompanies for Unit<'_> {
    fn find_company(
        &mut self,
        scope: ProviderId,
        id: CompanyId,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        self.find_in_scope(scope, into_company, |conn| {
            companies_with_owners().filter(companies::id.eq(Id(id))).get_result(conn)
        })
    }

    fn find_company_by_domain(
        &mut self,
        scope: ProviderId,
        domain: &DomainName,
    ) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        self.find_in_scope(scope, into_company, |conn| {
            companies_with_owners().filter(companies::domain.eq(domain.as_str())).get_result(conn)
        })
    }

    fn find_company_id_by_domain(&mut self, domain: &DomainName) -> Result<Option<CompanyId>, StoreError> {
        self.find(into_id, |conn| {
            companies::table
                .filter(companies::domain.eq(domain.as_str()))
                .select(companies::id)
                .get_result(conn)
        })
    }

    fn list_companies(
        &mut self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
        page: Page,
    ) -> Result<Vec<CompanyWithOwner>, StoreError> {
        let all = companies_with_owners()
            .filter(companies::provider_id.eq(Id(scope)))
            .order((companies::created_at, companies::id))
            .limit(page.limit())
            .offset(page.offset());
        let convert = |(_, row): (Id<ProviderId>, _)| into_company(row);
        self.list(convert, |conn| match corporation {
            None => all.get_results(conn),
            Some(corporation) => all.filter(companies::corporation_id.eq(Id(corporation))).get_results(conn),
        })
    }

    fn count_companies(
        &mut self,
        scope: ProviderId,
        corporation: Option<CorporationId>,
    ) -> Result<i64, StoreError> {
        self.query(|conn| {
            let all = companies::table.filter(companies::provider_id.eq(Id(scope)));
            match corporation {
                None => all.count().get_result(conn),
                Some(corporation) => {
                    all.filter(companies::corporation_id.eq(Id(corporation))).count().get_result(conn)
                }
            }
        })
    }

    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError> {
        self.find(into_id, |conn| {
            companies::table.find(Id(id)).select(companies::provider_id).get_result(conn)
        })
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

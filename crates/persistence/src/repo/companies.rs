//! Companies and corporations.

use diesel::prelude::*;
use guerdon_domain::companies::{Company, CompanyWithOwner};
use guerdon_domain::corporations::Corporation;
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::{Companies, Lookup, ReadCompanies, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, CorporationId, DomainName, ProviderId};

use super::Unit;
use crate::rows::{CompanyRow, CorporationRow, NewCompanyRow, OwnerRow, rate_column};
use crate::schema::{companies, corporations, users};
use crate::types::{At, Id};

type Found = Option<(CompanyRow, OwnerRow)>;

impl Unit<'_> {
    fn judge(&mut self, scope: ProviderId, found: Found) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        let Some((company, owner)) = found else { return Ok(Lookup::Absent) };
        if company.provider_id.0 != scope.as_uuid() {
            return Ok(Lookup::Foreign);
        }
        let read = company.read(owner);
        Ok(Lookup::Own(self.keep(read)?))
    }
}

impl ReadCompanies for Unit<'_> {
    fn company(&mut self, scope: ProviderId, id: CompanyId) -> Result<Lookup<CompanyWithOwner>, StoreError> {
        let found = self.query(|conn| {
            companies::table
                .inner_join(users::table.on(users::id.eq(companies::owner_id)))
                .filter(companies::id.eq(Id(id.as_uuid())))
                .select((CompanyRow::as_select(), OwnerRow::as_select()))
                .get_result(conn)
                .optional()
        })?;
        self.judge(scope, found)
    }

    fn company_by_domain(
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
        self.judge(scope, found)
    }

    fn provider_of_company(&mut self, id: CompanyId) -> Result<Option<ProviderId>, StoreError> {
        let found: Option<Id> = self.query(|conn| {
            companies::table.find(Id(id.as_uuid())).select(companies::provider_id).get_result(conn).optional()
        })?;
        Ok(found.map(|it| ProviderId::from_uuid(it.0)))
    }

    fn active_user_count(&mut self, id: CompanyId) -> Result<i64, StoreError> {
        self.query(|conn| {
            users::table
                .filter(users::company_id.eq(Id(id.as_uuid())).and(users::deleted_at.is_null()))
                .count()
                .get_result(conn)
        })
    }

    fn corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError> {
        let found = self.query(|conn| {
            corporations::table
                .find(Id(id.as_uuid()))
                .select(CorporationRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        let read = found.map(CorporationRow::read).transpose();
        Ok(Lookup::judge(scope, self.keep(read)?.map(|it| (it.provider_id, it))))
    }
}

impl Companies for Unit<'_> {
    fn insert_company(&mut self, company: &Company) -> Result<bool, StoreError> {
        let row = NewCompanyRow::of(company);
        let inserted = self.query(|conn| {
            diesel::insert_into(companies::table).values(&row).on_conflict_do_nothing().execute(conn)
        })?;
        Ok(inserted == 1)
    }

    fn set_rate(&mut self, id: CompanyId, rate: PointsPerDollar, at: Timestamp) -> Result<(), StoreError> {
        self.query(|conn| {
            diesel::update(companies::table.find(Id(id.as_uuid())))
                .set((companies::points_per_dollar.eq(rate_column(rate)), companies::updated_at.eq(At(at))))
                .execute(conn)
        })?;
        Ok(())
    }

    fn set_allow_zero_points(&mut self, id: CompanyId, allow: bool, at: Timestamp) -> Result<(), StoreError> {
        self.query(|conn| {
            diesel::update(companies::table.find(Id(id.as_uuid())))
                .set((companies::allow_zero_points.eq(allow), companies::updated_at.eq(At(at))))
                .execute(conn)
        })?;
        Ok(())
    }

    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        let row = CorporationRow::of(corporation);
        self.query(|conn| diesel::insert_into(corporations::table).values(&row).execute(conn))?;
        Ok(())
    }
}

//! SAML settings.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::ports::{ReadSaml, Saml, StoreError, Timestamp};
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::CompanyId;

use super::Unit;
use crate::rows::SamlRow;
use crate::rows::schema::saml_settings;
use crate::rows::types::{DbTimestamp, Id};

impl ReadSaml for Unit<'_> {
    fn saml_settings(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError> {
        let found = self.query(|conn| {
            saml_settings::table.find(Id(company)).select(SamlRow::as_select()).get_result(conn).optional()
        })?;
        let read = found.map_or_else(|| Ok(SamlSettings::default()), SamlRow::into_settings);
        self.record_failure(read)
    }

    fn list_companies_with_single_sign_on(
        &mut self,
        after: Option<CompanyId>,
        limit: i64,
    ) -> Result<Vec<CompanyId>, StoreError> {
        let after = Id(after.unwrap_or_else(|| CompanyId::from_uuid(uuid::Uuid::nil())));
        let found: Vec<Id<CompanyId>> = self.query(|conn| {
            saml_settings::table
                .filter(saml_settings::active.eq(true).and(saml_settings::company_id.gt(after)))
                .filter(sql::<Bool>(
                    "company_id NOT IN (SELECT id FROM companies WHERE handed_over_at IS NOT NULL)",
                ))
                .order(saml_settings::company_id)
                .limit(limit)
                .select(saml_settings::company_id)
                .get_results(conn)
        })?;
        Ok(found.into_iter().map(|id| id.0).collect())
    }
}

impl Saml for Unit<'_> {
    fn store_saml_settings(
        &mut self,
        company: CompanyId,
        settings: &SamlSettings,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = SamlRow::from_settings(company, settings, at);
        self.execute(|conn| {
            diesel::insert_into(saml_settings::table)
                .values(&row)
                .on_conflict(saml_settings::company_id)
                .do_update()
                .set(&row)
                .execute(conn)
        })
    }

    fn record_expiry_notice(&mut self, company: CompanyId, end: Timestamp) -> Result<bool, StoreError> {
        let untold = saml_settings::notified_of_expiry
            .is_null()
            .or(saml_settings::notified_of_expiry.ne(Some(DbTimestamp(end))));
        let changed = self.query(|conn| {
            diesel::update(saml_settings::table.find(Id(company)))
                .filter(untold)
                .set(saml_settings::notified_of_expiry.eq(Some(DbTimestamp(end))))
                .execute(conn)
        })?;
        Ok(changed == 1)
    }
}

//! SAML settings.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::ports::{ReadSaml, Saml, StoreError, Timestamp};
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::CompanyId;

use super::{Unit, into_id};
use crate::rows::conditions::is_handed_over;
use crate::rows::schema::saml_settings;
use crate::rows::{DbTimestamp, Id, SamlRow};

impl ReadSaml for Unit<'_> {
    fn saml_settings(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError> {
        let found = self.find(SamlRow::into_settings, |conn| {
            saml_settings::table.find(Id(company)).select(SamlRow::as_select()).get_result(conn)
        })?;
        Ok(found.unwrap_or_default())
    }

    fn list_companies_with_single_sign_on(
        &mut self,
        after: Option<CompanyId>,
        limit: i64,
    ) -> Result<Vec<CompanyId>, StoreError> {
        let after = Id(after.unwrap_or_else(|| CompanyId::from_uuid(uuid::Uuid::nil())));
        self.list(into_id, |conn| {
            saml_settings::table
                .filter(saml_settings::active.eq(true).and(saml_settings::company_id.gt(after)))
                .filter(sql::<Bool>(&format!("NOT {}", is_handed_over("saml_settings.company_id"))))
                .order(saml_settings::company_id)
                .limit(limit)
                .select(saml_settings::company_id)
                .get_results(conn)
        })
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

    fn record_expiry_notice(
        &mut self,
        company: CompanyId,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let expires_at = Some(DbTimestamp(expires_at));
        let is_not_notified =
            saml_settings::notified_of_expiry.is_null().or(saml_settings::notified_of_expiry.ne(expires_at));
        let changed = self.query(|conn| {
            diesel::update(saml_settings::table.find(Id(company)))
                .filter(is_not_notified)
                .set(saml_settings::notified_of_expiry.eq(expires_at))
                .execute(conn)
        })?;
        Ok(changed == 1)
    }
}

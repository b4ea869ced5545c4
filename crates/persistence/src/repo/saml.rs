//! SAML settings.

use diesel::prelude::*;
use guerdon_domain::ports::{ReadSaml, Saml, StoreError, Timestamp};
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::CompanyId;

use super::Unit;
use crate::rows::SamlRow;
use crate::rows::schema::saml_settings;
use crate::rows::types::Id;

impl ReadSaml for Unit<'_> {
    fn saml(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError> {
        let found = self.query(|conn| {
            saml_settings::table.find(Id(company)).select(SamlRow::as_select()).get_result(conn).optional()
        })?;
        let read = found.map_or_else(|| Ok(SamlSettings::default()), SamlRow::read);
        self.keep(read)
    }
}

impl Saml for Unit<'_> {
    fn keep_saml(
        &mut self,
        company: CompanyId,
        settings: &SamlSettings,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = SamlRow::of(company, settings, at);
        self.query(|conn| {
            diesel::insert_into(saml_settings::table)
                .values(&row)
                .on_conflict(saml_settings::company_id)
                .do_update()
                .set(&row)
                .execute(conn)
        })?;
        Ok(())
    }
}

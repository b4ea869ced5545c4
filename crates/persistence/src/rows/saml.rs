//! SAML settings.

use diesel::prelude::*;
use guerdon_domain::ports::{StoreError, Timestamp};
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::{CompanyId, EntityId, PemCertificate, WebUrl};

use super::schema::saml_settings;
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = saml_settings, primary_key(company_id))]
#[diesel(treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct SamlRow {
    company_id: Id<CompanyId>,
    idp_id: Option<String>,
    idp_url: Option<String>,
    idp_certificate: Option<String>,
    active: bool,
    updated_at: DbTimestamp,
}

impl SamlRow {
    pub(crate) fn from_settings(company: CompanyId, settings: &SamlSettings, at: Timestamp) -> Self {
        Self {
            company_id: Id(company),
            idp_id: settings.idp_id.as_ref().map(|idp_id| idp_id.as_str().to_owned()),
            idp_url: settings.idp_url.as_ref().map(|idp_url| idp_url.as_str().to_owned()),
            idp_certificate: settings
                .idp_certificate
                .as_ref()
                .map(|idp_certificate| idp_certificate.as_str().to_owned()),
            active: settings.active,
            updated_at: DbTimestamp(at),
        }
    }

    pub(crate) fn into_settings(self) -> Result<SamlSettings, StoreError> {
        let reader = RowReader { table: "saml_settings", id: &self.company_id.0 };
        let certificate = self.idp_certificate.as_deref();
        Ok(SamlSettings {
            idp_id: reader.parse_nullable("idp_id", self.idp_id.as_deref(), EntityId::parse)?,
            idp_url: reader.parse_nullable("idp_url", self.idp_url.as_deref(), WebUrl::parse)?,
            idp_certificate: reader.parse_nullable("idp_certificate", certificate, PemCertificate::parse)?,
            active: self.active,
        })
    }
}

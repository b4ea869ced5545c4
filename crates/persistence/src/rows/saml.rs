//! SAML settings.

use diesel::prelude::*;
use guerdon_domain::ports::{StoreError, Timestamp};
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::{CompanyId, EntityId, PemCertificate, WebUrl};

use super::Reading;
use super::schema::saml_settings;
use super::types::{At, Id};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = saml_settings, primary_key(company_id))]
#[diesel(treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct SamlRow {
    company_id: Id<CompanyId>,
    idp_id: Option<String>,
    idp_url: Option<String>,
    idp_certificate: Option<String>,
    active: bool,
    updated_at: At,
}

impl SamlRow {
    pub(crate) fn of(company: CompanyId, it: &SamlSettings, at: Timestamp) -> Self {
        Self {
            company_id: Id(company),
            idp_id: it.idp_id.as_ref().map(|idp_id| idp_id.as_str().to_owned()),
            idp_url: it.idp_url.as_ref().map(|idp_url| idp_url.as_str().to_owned()),
            idp_certificate: it
                .idp_certificate
                .as_ref()
                .map(|idp_certificate| idp_certificate.as_str().to_owned()),
            active: it.active,
            updated_at: At(at),
        }
    }

    pub(crate) fn read(self) -> Result<SamlSettings, StoreError> {
        let reading = Reading { table: "saml_settings", id: &self.company_id.0 };
        let certificate = self.idp_certificate.as_deref();
        Ok(SamlSettings {
            idp_id: reading.parse_opt("idp_id", self.idp_id.as_deref(), EntityId::parse)?,
            idp_url: reading.parse_opt("idp_url", self.idp_url.as_deref(), WebUrl::parse)?,
            idp_certificate: reading.parse_opt("idp_certificate", certificate, PemCertificate::parse)?,
            active: self.active,
        })
    }
}

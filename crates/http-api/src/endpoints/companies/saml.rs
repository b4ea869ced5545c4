//! `GET` and `PUT /v1/companies/{id}/saml`: a company's single sign-on settings.

use guerdon_api_types::views::SamlView;
use guerdon_api_types::{FieldDocs, Fields, field_docs};
use guerdon_domain::companies::Company;
use guerdon_domain::ports::{Context, ReadTx, Tx};
use guerdon_domain::saml::{UpdateSaml, UpdateSamlError, update};
use guerdon_domain::values::{PemCertificate, Update};

use super::get::company_in_path;
use crate::operation::{
    ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, Work, WriteOperation,
};

pub(crate) struct GetSaml;

impl OperationDocs for GetSaml {
    const NAME: &'static str = "getSamlSettings";
    const SUMMARY: &'static str = "Fetch the SAML settings of a company";
    const DESCRIPTION: &'static str = "If a company has no settings, `idp_id` and `idp_url` are null \
         and `active` is false.";
    type View = SamlView<'static>;
}

impl ReadOperation for GetSaml {
    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let settings = reads.saml_settings(company.id)?;
        RenderedResponse::ok(&SamlView::from_settings(&call.service_url, &company, &settings))
    }
}

pub(crate) struct UpdateSamlSettings;

impl OperationDocs for UpdateSamlSettings {
    const NAME: &'static str = "updateSamlSettings";
    const SUMMARY: &'static str = "Change the SAML settings of a company";
    const DESCRIPTION: &'static str = "Changes the fields that are sent. `active` can be true only if the identity provider's id, URL and \
         certificate are set by this request or an earlier one. The certificate is never returned.";
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The identity provider's X.509 certificate in PEM, at most 64 KiB; never shown.
        /// Example: `"-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n"`
        idp_certificate,
    };
    type View = SamlView<'static>;
}

impl WriteOperation for UpdateSamlSettings {
    type Input = UpdateSaml;

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        company_in_path(tx, call).map(drop)
    }

    fn parse_input(fields: &mut Fields) -> Option<UpdateSaml> {
        Some(UpdateSaml {
            idp_id: fields.read_update("idp_id"),
            idp_url: fields.read_update("idp_url"),
            idp_certificate: fields.read_update("idp_certificate"),
            active: fields.read_flag_change("active"),
        })
    }

    fn execute_write(work: Work<'_>, input: &UpdateSaml) -> Result<RenderedResponse, ApiError> {
        let Work { tx, call, context } = work;
        let (company, settings) = update(tx, call.scope, call.path_id("company")?, input, context)?;
        if let Update::Set(sent) = &input.idp_certificate {
            warn_of_expiry(&company, sent, context);
        }
        RenderedResponse::ok(&SamlView::from_settings(&call.service_url, &company, &settings))
    }
}

fn warn_of_expiry(company: &Company, certificate: &PemCertificate, context: &Context<'_>) {
    let expires_at = certificate.expires_at();
    if expires_at < context.clock.now() {
        log::warn!(company_id:% = company.id, expires_at:%; "a company set an expired SAML certificate");
    }
}

impl From<UpdateSamlError> for ApiError {
    fn from(error: UpdateSamlError) -> Self {
        match error {
            UpdateSamlError::Denied(denied) => Self::from_denied_path(denied, "company"),
            UpdateSamlError::Incomplete => Self::invalid_field("active", error.to_string()),
            UpdateSamlError::Store(error) => error.into(),
        }
    }
}

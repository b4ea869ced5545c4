//! `GET` and `PUT /v1/companies/{id}/saml`: a company's single sign-on settings.

use guerdon_domain::companies::Company;
use guerdon_domain::ports::{Context, Reads, Tx};
use guerdon_domain::saml::{UpdateSaml, UpdateSamlError, update};
use guerdon_domain::values::{PemCertificate, Update};

use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Read, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;
use guerdon_api_types::views::SamlView;

pub(crate) struct GetSaml;

impl Described for GetSaml {
    const NAME: &'static str = "getSamlSettings";
    const SUMMARY: &'static str = "Fetch the SAML settings of a company";
    const TEXT: &'static str = "A company without settings has `idp_id` and `idp_url` null \
         and `active` false.";
    type View = SamlView<'static>;
}

impl Read for GetSaml {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let settings = reads.saml(company.id)?;
        Answer::ok(&SamlView::of(&call.service_url, &company, &settings))
    }
}

pub(crate) struct UpdateSamlSettings;

impl Described for UpdateSamlSettings {
    const NAME: &'static str = "updateSamlSettings";
    const SUMMARY: &'static str = "Change the SAML settings of a company";
    const TEXT: &'static str = "Changes the fields that are sent. `active` can be true only if the identity provider's id, URL and \
         certificate are set, in this request or before. The certificate is never returned.";
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The identity provider's X.509 certificate in PEM, at most 64 KiB; never shown.
        /// Example: `"-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n"`
        idp_certificate,
    };
    type View = SamlView<'static>;
}

impl Write for UpdateSamlSettings {
    type Command = UpdateSaml;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        company_in_path(tx, call).map(drop)
    }

    fn command(fields: &mut Fields) -> Option<UpdateSaml> {
        Some(UpdateSaml {
            idp_id: fields.updated("idp_id"),
            idp_url: fields.updated("idp_url"),
            idp_certificate: fields.updated("idp_certificate"),
            active: fields.changed_flag("active"),
        })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &UpdateSaml,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let (company, settings) = update(tx, call.scope, call.path_id("company")?, command, context)?;
        if let Update::Set(sent) = &command.idp_certificate {
            warn_of_expiry(&company, sent, context);
        }
        Answer::ok(&SamlView::of(&call.service_url, &company, &settings))
    }
}

fn warn_of_expiry(company: &Company, certificate: &PemCertificate, context: &Context<'_>) {
    let at = certificate.expires_at();
    if at < context.clock.now() {
        log::warn!("the SAML certificate of company {} expired at {}", company.id, at);
    }
}

impl From<UpdateSamlError> for ApiError {
    fn from(error: UpdateSamlError) -> Self {
        match error {
            UpdateSamlError::Denied(denied) => Self::path_denied(denied, "company"),
            UpdateSamlError::Incomplete => Self::bad_request(error.to_string()),
            UpdateSamlError::Store(error) => error.into(),
        }
    }
}

//! `PUT /v1/companies/{id}`: change a company, its owner and its rate included.

use guerdon_domain::companies::{UpdateCompany, UpdateCompanyError, update};
use guerdon_domain::ports::{Context, Tx};

use super::create::Create;
use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::views::{ChangedCompany, CompanyView};

pub(crate) struct Update;

impl Described for Update {
    const NAME: &'static str = "updateCompany";
    const SUMMARY: &'static str = "Change a company";
    const TEXT: &'static str = "Changes the fields that are sent. An `owner_email` of another active user of the company makes \
         that user the owner; an unused email creates the user. The previous owner remains a user. A new \
         `points_per_dollar` changes how many points the same balances show, not their value.";
    const DOCUMENTED_BY: Option<&str> = Some("Company");
    const FIELD_DOCS: FieldDocs = Create::FIELD_DOCS;
    type View = ChangedCompany;
}

impl Write for Update {
    const NEEDS_DESIGNATION: bool = true;
    type Command = UpdateCompany;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        company_in_path(tx, call).map(drop)
    }

    fn command(fields: &mut Fields) -> Option<UpdateCompany> {
        Some(UpdateCompany {
            domain: fields.changed("domain"),
            name: fields.changed("company_name"),
            owner_email: fields.changed("owner_email"),
            owner_name: fields.changed("owner_name"),
            logo_url: fields.changed("logo_url"),
            rate: fields.changed_integer("points_per_dollar"),
            reserve_alert: fields.updated_integer("reserve_alert"),
            reserve_bcc: fields.updated("reserve_bcc"),
        })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &UpdateCompany,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let company = update(tx, call.scope, call.path_id("company")?, command, context)?;
        Answer::ok(&CompanyView::changed(&company))
    }
}

impl From<UpdateCompanyError> for ApiError {
    fn from(error: UpdateCompanyError) -> Self {
        match error {
            UpdateCompanyError::Denied(denied) => Self::path_denied(denied, "company"),
            UpdateCompanyError::OtherDomain | UpdateCompanyError::OwnerName(_) => {
                Self::bad_request(error.to_string())
            }
            UpdateCompanyError::Store(error) => error.into(),
        }
    }
}

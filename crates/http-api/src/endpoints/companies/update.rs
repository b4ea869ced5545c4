//! `PUT /v1/companies/{id}`: change a company, including its owner and its rate.

use guerdon_api_types::requests::read_company_changes;
use guerdon_api_types::views::{ChangedCompany, CompanyView};
use guerdon_api_types::{FieldDocs, Fields};
use guerdon_domain::companies::{UpdateCompany, UpdateCompanyError, update};
use guerdon_domain::ports::Tx;

use super::create::Create;
use super::get::company_in_path;
use crate::operation::{ApiError, Call, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Update;

impl OperationDocs for Update {
    const NAME: &'static str = "updateCompany";
    const SUMMARY: &'static str = "Change a company";
    const DESCRIPTION: &'static str = "Changes the fields that are sent. An `owner_email` of another active user of the company makes \
         that user the owner; an unused email creates the user. The previous owner remains a user. A new \
         `points_per_dollar` changes how many points the same balances show, not their value.";
    const DOCUMENTED_BY: Option<&str> = Some("Company");
    const FIELD_DOCS: FieldDocs = Create::FIELD_DOCS;
    type View = ChangedCompany;
}

impl WriteOperation for Update {
    const NEEDS_DESIGNATION: bool = true;
    type Input = UpdateCompany;

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        company_in_path(tx, call).map(drop)
    }

    fn parse_input(fields: &mut Fields) -> Option<UpdateCompany> {
        Some(read_company_changes(fields))
    }

    fn execute_write(work: Work<'_>, input: &UpdateCompany) -> Result<RenderedResponse, ApiError> {
        let company = update(work.tx, work.call.scope, work.call.path_id("company")?, input, work.context)?;
        RenderedResponse::ok(&CompanyView::for_change(&company))
    }
}

impl From<UpdateCompanyError> for ApiError {
    fn from(error: UpdateCompanyError) -> Self {
        match error {
            UpdateCompanyError::Denied(denied) => Self::from_denied_path(denied, "company"),
            UpdateCompanyError::OtherDomain => Self::invalid_field("domain", error.to_string()),
            UpdateCompanyError::OwnerName(_) => Self::invalid_field("owner_name", error.to_string()),
            UpdateCompanyError::Store(error) => error.into(),
        }
    }
}

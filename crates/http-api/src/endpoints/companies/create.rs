//! `POST /v1/companies`: create a company under the caller.

use guerdon_api_types::requests::read_new_company;
use guerdon_api_types::views::{ChangedCompany, CompanyView};
use guerdon_api_types::{FieldDocs, Fields, field_docs};
use guerdon_domain::companies::{CreateCompany, CreateCompanyError, create};

use crate::operation::{ApiError, ErrorCode, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Create;

impl OperationDocs for Create {
    const NAME: &'static str = "createCompany";
    const SUMMARY: &'static str = "Create a company";
    const DESCRIPTION: &'static str = "Creates a company and its owner, who is its first user: active, and a company admin. \
         `owner_name` is split at its last space into first and last name. Domains are unique across the \
         service.";
    const SUCCESS_STATUS: u16 = 201;
    const DOCUMENTED_BY: Option<&str> = Some("Company");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The URL of the company's logo of 320 by 80 pixels; never fetched, and not returned.
        /// Example: `"https://acme.example/logo.png"`
        logo_url,
        /// The corporation that the company belongs to; it cannot be changed. Example:
        /// `"019a9c3e-5d6f-7b02-b6a3-2c4d5e6f7a33"`
        corporation_id,
    };
    type View = ChangedCompany;
}

impl WriteOperation for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Input = CreateCompany;

    fn parse_input(fields: &mut Fields) -> Option<CreateCompany> {
        read_new_company(fields)
    }

    fn execute_write(work: Work<'_>, input: &CreateCompany) -> Result<RenderedResponse, ApiError> {
        let company = create(work.tx, work.call.scope, input, work.context)?;
        Ok(RenderedResponse::created(&CompanyView::for_change(&company))?.about_company(company.company.id))
    }
}

impl From<CreateCompanyError> for ApiError {
    fn from(error: CreateCompanyError) -> Self {
        match error {
            CreateCompanyError::Denied(denied) => denied.into(),
            CreateCompanyError::DomainTaken => {
                Self::about_field(ErrorCode::DomainTaken, "domain", error.to_string())
            }
            CreateCompanyError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_that_is_taken_has_its_own_code() {
        let error = ApiError::from(CreateCompanyError::DomainTaken);
        assert_eq!(error.code_and_fields(), (ErrorCode::DomainTaken, vec!["domain"]));
        assert_eq!(error.status_and_message(), (400, "domain has already been taken"));
    }
}

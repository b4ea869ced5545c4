//! `POST /v1/companies`: create a company under the caller.

use guerdon_domain::companies::{CreateCompany, CreateCompanyError, OwnerName, create};
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{InvalidValue, SingleLine};
use schemars::Schema;

use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::error_code::ErrorCode;
use crate::operation::response::RenderedResponse;
use crate::operation::{OperationDocs, WriteOperation};
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;
use guerdon_api_types::values::{FromText, ValueSchema};
use guerdon_api_types::views::{ChangedCompany, CompanyView};

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
        /// The corporation that the company belongs to; it cannot be changed. Example: `"019a9c3e-5d6f-7b02-b6a3-2c4d5e6f7a33"`
        corporation_id,
    };
    type View = ChangedCompany;
}

impl WriteOperation for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = CreateCompany;

    fn parse_command(fields: &mut Fields) -> Option<CreateCompany> {
        let domain = fields.read_required("domain");
        let name = fields.read_required("company_name");
        let owner_email = fields.read_required("owner_email");
        let owner_name = fields.read_required::<OwnerNames>("owner_name");
        let logo_url = fields.read_required("logo_url");
        let corporation_id = fields.read_optional("corporation_id");
        let rate = fields.read_optional_integer("points_per_dollar");
        let reserve_alert = fields.read_optional_integer("reserve_alert");
        let reserve_bcc = fields.read_optional("reserve_bcc");
        let OwnerNames(owner_first_name, owner_last_name) = owner_name?;
        Some(CreateCompany {
            domain: domain?,
            name: name?,
            owner_email: owner_email?,
            owner_first_name,
            owner_last_name,
            logo_url: logo_url?,
            corporation_id,
            rate: rate.unwrap_or(PointsPerDollar::DEFAULT),
            reserve_alert,
            reserve_bcc,
        })
    }

    fn execute_command(
        tx: &mut dyn Tx,
        call: &Call,
        command: &CreateCompany,
        context: &Context<'_>,
    ) -> Result<RenderedResponse, ApiError> {
        let company = create(tx, call.scope, command, context)?;
        RenderedResponse::created(&CompanyView::for_change(&company))
    }
}

/// The first and last name of a new company's owner.
struct OwnerNames(SingleLine, Option<SingleLine>);

impl ValueSchema for OwnerNames {
    fn value_schema() -> Schema {
        SingleLine::value_schema()
    }
}

impl FromText for OwnerNames {
    type Fault = InvalidValue;
    const EXPECTED: &'static str = SingleLine::EXPECTED;

    fn from_text(text: &str) -> Result<Self, InvalidValue> {
        OwnerName::new(text).into_parts().map(|(first, last)| Self(first, last))
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

    fn fault_text(body: &str) -> String {
        let mut fields = Fields::parse(body.as_bytes()).unwrap();
        let command = Create::parse_command(&mut fields);
        fields.check_faults(command).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn a_domain_that_is_taken_has_its_own_code() {
        let error = ApiError::from(CreateCompanyError::DomainTaken);
        assert_eq!(error.code_and_fields(), (ErrorCode::DomainTaken, vec!["domain"]));
        assert_eq!(error.status_and_message(), (400, "domain has already been taken"));
    }

    #[test]
    fn every_field_is_validated_and_every_fault_reported() {
        let with = |field: &str, value: &str| {
            let mut body = serde_json::json!({
                "domain": "a.example", "company_name": "A", "owner_email": "a@a.example", "owner_name": "Ada L",
                "logo_url": "https://a.example/logo.png",
            });
            body[field] = serde_json::from_str(value).unwrap();
            fault_text(&body.to_string())
        };
        let check = |field: &str, value: &str, is_valid: bool| {
            let fault = with(field, value);
            assert_eq!(fault.is_empty(), is_valid, "{field} {value}: {fault}");
            assert!(is_valid || fault.starts_with(&format!("{field} ")), "{fault}");
        };
        check("points_per_dollar", "null", true);
        check("points_per_dollar", "1", true);
        check("points_per_dollar", "10000", true);
        check("points_per_dollar", "0", false);
        check("points_per_dollar", "10001", false);
        check("points_per_dollar", "50.0", false);
        check("reserve_alert", "0", true);
        check("reserve_alert", "null", true);
        check("reserve_alert", "-1", false);
        check("reserve_alert", "9223372036854775807", true);
        check("reserve_alert", "9223372036854775808", false);
        check("reserve_bcc", "\"\"", true);
        check("reserve_bcc", "\"x\"", false);
        check("corporation_id", "null", true);
        check("corporation_id", "\"x\"", false);
        check("owner_name", "\"Ada\"", true);
        check("owner_name", "\" \"", false);
        check("logo_url", "null", false);
        let expected = "domain is required; company_name is required; owner_email is required; \
                   owner_name is required; logo_url is required";
        assert_eq!(fault_text("{}"), expected);
    }
}

//! `POST /v1/companies`: create a company under the caller.

use guerdon_domain::companies::{CreateCompany, CreateCompanyError, OwnerName, create};
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{InvalidValue, Line};
use schemars::Schema;

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;
use guerdon_api_types::form::{Form, FromText};
use guerdon_api_types::views::{ChangedCompany, CompanyView};

pub(crate) struct Create;

impl Described for Create {
    const NAME: &'static str = "createCompany";
    const SUMMARY: &'static str = "Create a company";
    const TEXT: &'static str = "Creates a company and its owner, who is its first user: active, and a company admin. \
         `owner_name` is split at its last space into first and last name. Domains are unique across the \
         service.";
    const STATUS: u16 = 201;
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

impl Write for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = CreateCompany;

    fn command(fields: &mut Fields) -> Option<CreateCompany> {
        let domain = fields.required("domain");
        let name = fields.required("company_name");
        let owner_email = fields.required("owner_email");
        let owner_name = fields.required::<Owner>("owner_name");
        let logo_url = fields.required("logo_url");
        let corporation_id = fields.optional("corporation_id");
        let rate = fields.optional_integer("points_per_dollar");
        let reserve_alert = fields.optional_integer("reserve_alert");
        let reserve_bcc = fields.optional("reserve_bcc");
        let Owner(owner_first_name, owner_last_name) = owner_name?;
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

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &CreateCompany,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let company = create(tx, call.scope, command, context)?;
        Answer::created(&CompanyView::changed(&company))
    }
}

/// The first and last name of a new company's owner.
struct Owner(Line, Option<Line>);

impl Form for Owner {
    fn form() -> Schema {
        Line::form()
    }
}

impl FromText for Owner {
    type Fault = InvalidValue;
    const EXPECTED: &'static str = Line::EXPECTED;

    fn from_text(text: &str) -> Result<Self, InvalidValue> {
        OwnerName::new(text).into_parts().map(|(first, last)| Self(first, last))
    }
}

impl From<CreateCompanyError> for ApiError {
    fn from(error: CreateCompanyError) -> Self {
        match error {
            CreateCompanyError::Denied(denied) => denied.into(),
            CreateCompanyError::DomainTaken => Self::bad_request(error.to_string()),
            CreateCompanyError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: &str) -> String {
        let mut fields = Fields::parse(body.as_bytes()).unwrap();
        let command = Create::command(&mut fields);
        fields.unless_faulty(command).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn every_field_is_judged_and_every_fault_told() {
        let with = |field: &str, value: &str| {
            let mut body = serde_json::json!({
                "domain": "a.example", "company_name": "A", "owner_email": "a@a.example", "owner_name": "Ada L",
                "logo_url": "https://a.example/logo.png",
            });
            body[field] = serde_json::from_str(value).unwrap();
            told(&body.to_string())
        };
        let check = |field: &str, value: &str, is_valid: bool| {
            let told = with(field, value);
            assert_eq!(told.is_empty(), is_valid, "{field} {value}: {told}");
            assert!(is_valid || told.starts_with(&format!("{field} ")), "{told}");
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
        let all = "domain is required; company_name is required; owner_email is required; \
                   owner_name is required; logo_url is required";
        assert_eq!(told("{}"), all);
    }
}

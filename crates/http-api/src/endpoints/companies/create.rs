//! `POST /v1/companies`: create a company under the caller.

use guerdon_domain::companies::{CreateCompany, CreateCompanyError, OwnerName, create};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{DomainName, EmailAddress, Line, WebUrl};

use super::view::CompanyView;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

/// What `points_per_dollar` must be.
pub(super) const RATE_MUST_BE: &str = "must be an integer from 1 to 10000";
/// What `reserve_alert` must be.
pub(super) const ALERT_MUST_BE: &str = "must be an integer from 0";

pub(crate) struct Create;

impl Write for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = CreateCompany;

    fn command(fields: &mut Fields) -> Option<CreateCompany> {
        let domain = fields.required("domain", DomainName::parse);
        let name = fields.required("company_name", Line::parse);
        let owner_email = fields.required("owner_email", EmailAddress::parse);
        let owner_name = fields.required("owner_name", |it| OwnerName::new(it).into_parts());
        let logo_url = fields.required("logo_url", WebUrl::parse);
        let corporation_id = fields.optional("corporation_id", str::parse);
        let rate = fields.optional_integer("points_per_dollar", RATE_MUST_BE, PointsPerDollar::new);
        let reserve_alert = fields.optional_integer("reserve_alert", ALERT_MUST_BE, Points::new);
        let reserve_bcc = fields.optional("reserve_bcc", EmailAddress::parse);
        let (owner_first_name, owner_last_name) = owner_name?;
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
        fields.unless_faulty(command).map_or_else(|it| it.told().1.to_owned(), |_| String::new())
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

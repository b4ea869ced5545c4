//! The bodies that create and change a company (behaviour 11.2, 11.3).

use guerdon_domain::companies::{CreateCompany, OwnerName, UpdateCompany};
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::values::{InvalidValue, SingleLine};
use schemars::Schema;

use crate::body::Fields;
use crate::values::{FromText, ValueSchema};

/// Reads the body that creates a company. Returns `None` after a fault, which `fields` reports.
pub fn read_new_company(fields: &mut Fields) -> Option<CreateCompany> {
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

/// Reads the body that changes a company. `fields` reports faults.
pub fn read_company_changes(fields: &mut Fields) -> UpdateCompany {
    UpdateCompany {
        domain: fields.read_change("domain"),
        name: fields.read_change("company_name"),
        owner_email: fields.read_change("owner_email"),
        owner_name: fields.read_change("owner_name"),
        logo_url: fields.read_change("logo_url"),
        rate: fields.read_integer_change("points_per_dollar"),
        reserve_alert: fields.read_integer_update("reserve_alert"),
        reserve_bcc: fields.read_update("reserve_bcc"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_text(body: &str) -> String {
        let mut fields = Fields::parse(body.as_bytes()).unwrap();
        let command = read_new_company(&mut fields);
        fields.check_faults(command).map_or_else(|error| error.to_string(), |_| String::new())
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
        let expected = "domain is required and must be a string with a domain name; \
             company_name is required and must be a string of 1 to 255 characters; \
             owner_email is required and must be a string with an email address; \
             owner_name is required and must be a string of 1 to 255 characters; \
             logo_url is required and must be a string with an http or https URL";
        assert_eq!(fault_text("{}"), expected);
    }
}

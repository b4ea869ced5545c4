//! Converts a row of a file into a record of a user.

use guerdon_api_types::requests::{parse_imported_changes, parse_imported_profile};
use guerdon_domain::users::{ImportRecord, Profile, UpdateUser, UserKey};
use guerdon_domain::values::{CompanyId, EmailAddress, SingleLine};
use serde_json::{Map, Value};

use super::row::ImportRow;

impl ImportRow {
    fn valid_fields(&self) -> Result<&Map<String, Value>, String> {
        let fields = self.fields.as_ref().map_err(Clone::clone)?;
        if fields.contains_key("company_id") {
            return Err("company_id must not be in a row: --company selects the company".to_owned());
        }
        Ok(fields)
    }
}

impl ImportRecord for ImportRow {
    fn user_key(&self) -> Result<Option<UserKey>, String> {
        let fields = self.valid_fields()?;
        let text = |name| fields.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
        let (employee_id, email) = (text("employee_id"), text("email"));
        if employee_id.is_none() && email.is_none() {
            return Ok(None);
        }
        Ok(Some(UserKey {
            employee_id: employee_id.and_then(|id| SingleLine::parse(id).ok()),
            email: email.and_then(|email| EmailAddress::parse(email).ok()),
        }))
    }

    fn to_profile(&self, company: CompanyId) -> Result<Profile, String> {
        parse_imported_profile(company, self.valid_fields()?)
    }

    fn to_changes(&self) -> Result<UpdateUser, String> {
        parse_imported_changes(self.valid_fields()?)
    }
}

//! A row of a file as a record of a user.

use guerdon_api_types::requests::{imported_changes, imported_profile};
use guerdon_domain::users::{ImportRecord, Key, Profile, UpdateUser};
use guerdon_domain::values::{CompanyId, EmailAddress, Line};
use serde_json::{Map, Value};

use super::import_file::Row;

impl Row {
    fn fields(&self) -> Result<&Map<String, Value>, String> {
        self.fields.as_ref().map_err(Clone::clone)
    }
}

impl ImportRecord for Row {
    fn key(&self) -> Result<Option<Key>, String> {
        let fields = self.fields()?;
        let text = |name| fields.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
        let (employee_id, email) = (text("employee_id"), text("email"));
        if employee_id.is_none() && email.is_none() {
            return Ok(None);
        }
        Ok(Some(Key {
            employee_id: employee_id.and_then(|id| Line::parse(id).ok()),
            email: email.and_then(|email| EmailAddress::parse(email).ok()),
        }))
    }

    fn profile(&self, company: CompanyId) -> Result<Profile, String> {
        imported_profile(company, self.fields()?)
    }

    fn changes(&self) -> Result<UpdateUser, String> {
        imported_changes(self.fields()?)
    }
}

//! Parses the rows of an import file into users, with the readers of request bodies.

use guerdon_domain::users::{Profile, UpdateUser};
use guerdon_domain::values::CompanyId;
use serde_json::{Map, Value};

use super::{read_new_user, read_user_changes};
use crate::body::{Fields, InvalidBody};

/// The fields that a row may have.
pub fn importable_user_fields() -> Vec<String> {
    let parameters = Fields::collect_parameters(|fields| read_new_user(fields).map(drop));
    parameters.into_iter().map(|parameter| parameter.name).filter(|name| name != "company_id").collect()
}

/// The user that a row describes, to be created in a company.
///
/// # Errors
///
/// The invalid fields and the rules that they break, as the API reports them.
pub fn parse_imported_profile(company: CompanyId, row: &Map<String, Value>) -> Result<Profile, String> {
    let mut row = row.clone();
    row.insert("company_id".to_owned(), company.to_string().into());
    parse_row(&row, read_new_user).map(|user| user.profile)
}

/// The changes to an existing user that a row describes.
///
/// # Errors
///
/// The invalid fields and the rules that they break, as the API reports them.
pub fn parse_imported_changes(row: &Map<String, Value>) -> Result<UpdateUser, String> {
    parse_row(row, read_user_changes)
}

fn parse_row<T>(
    row: &Map<String, Value>,
    reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
) -> Result<T, String> {
    let body = serde_json::to_vec(row).map_err(|cause| cause.to_string())?;
    let message = |fault: InvalidBody| fault.to_string();
    let mut fields = Fields::parse(&body).map_err(message)?;
    let value = reader(&mut fields);
    fields.reject_unknown();
    fields.check_faults(value).map_err(message)
}

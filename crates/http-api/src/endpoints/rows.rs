//! Users as the rows of a file give them: judged by the readers of the API's own bodies, so that no rule stands twice.

use guerdon_domain::users::{Profile, UpdateUser};
use guerdon_domain::values::CompanyId;
use serde_json::{Map, Value};

use super::users;
use crate::operation::Write;
use crate::operation::body::Fields;

/// The fields that a row may have.
pub fn user_fields() -> Vec<String> {
    let asked = Fields::asked_by(|fields| <users::Create as Write>::command(fields).map(drop));
    asked.into_iter().map(|it| it.name).filter(|it| it != "company_id").collect()
}

/// What a row says of a user who is to be created in a company.
///
/// # Errors
///
/// What is wrong with which fields, as the API tells it.
pub fn new_user(company: CompanyId, row: &Map<String, Value>) -> Result<Profile, String> {
    let mut row = row.clone();
    row.insert("company_id".to_owned(), company.to_string().into());
    Ok(read::<users::Create>(&row)?.into_profile())
}

/// What a row changes of a user who is there.
///
/// # Errors
///
/// What is wrong with which fields, as the API tells it.
pub fn changed_user(row: &Map<String, Value>) -> Result<UpdateUser, String> {
    read::<users::Update>(row)
}

fn read<W: Write>(row: &Map<String, Value>) -> Result<W::Command, String> {
    let body = serde_json::to_vec(row).map_err(|cause| cause.to_string())?;
    let told = |refusal: crate::operation::error::ApiError| refusal.told().1.to_owned();
    let mut fields = Fields::parse(&body).map_err(told)?;
    let command = W::command(&mut fields);
    fields.require_none_ignored().map_err(told)?;
    fields.unless_faulty(command).map_err(told)
}

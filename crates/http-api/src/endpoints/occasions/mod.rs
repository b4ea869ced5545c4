//! `/v1/occasions` (behaviour 14).

mod create;
mod delete;
mod get;
mod update;

pub(crate) use create::Create;
pub(crate) use delete::Delete;
pub(crate) use get::Get;
pub(crate) use update::Update;

//! `/v1/corporations` (behaviour 12).

mod companies;
mod create;
mod get;
mod list;
mod update;

pub(crate) use companies::ListCompanies;
pub(crate) use create::Create;
pub(crate) use get::Get;
pub(crate) use list::List;
pub(crate) use update::Update;

//! `/v1/companies` (spec §4.1).

mod create;
mod get;

pub(crate) use create::Create;
pub(crate) use get::Get;

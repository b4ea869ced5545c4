//! `/v1/occasions` (spec §4.3).

mod create;
mod get;
mod view;

pub(crate) use create::Create;
pub(crate) use get::Get;

//! `/v1/companies` (behaviour 11).

mod balances;
mod create;
mod get;
mod list;
mod occasions;
mod rate_preview;
mod reserve;
mod saml;
mod update;
mod users;

pub(crate) use balances::Balances;
pub(crate) use create::Create;
pub(crate) use get::Get;
pub(crate) use list::{List, answer as answer_list, weight as list_weight};
pub(crate) use occasions::Occasions;
pub(crate) use rate_preview::RatePreview;
pub(crate) use reserve::{Reserve, ReserveTransactions};
pub(crate) use saml::{GetSaml, UpdateSamlSettings};
pub(crate) use update::Update;
pub(crate) use users::Users;

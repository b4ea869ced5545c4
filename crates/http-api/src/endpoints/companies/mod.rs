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

pub(crate) use balances::ListBalances;
pub(crate) use create::Create;
pub(crate) use get::Get;
pub(crate) use list::{COMPANY_BYTES_MAX, List, render_list};
pub(crate) use occasions::ListOccasions;
pub(crate) use rate_preview::{PreviewRate, read_proposed_rate, run_rate_preview};
pub(crate) use reserve::{GetReserve, ListReserveTransactions};
pub(crate) use saml::{GetSaml, UpdateSamlSettings};
pub(crate) use update::Update;
pub(crate) use users::ListUsers;

//! `/v1/users` (spec §4.5).

mod balances;
mod create;
mod delete;
mod get;
mod transactions;
mod view;

pub(crate) use balances::Balances;
pub(crate) use create::Create;
pub(crate) use delete::Delete;
pub(crate) use get::Get;
pub(crate) use transactions::Transactions;

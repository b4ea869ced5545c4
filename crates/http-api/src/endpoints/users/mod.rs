//! `/v1/users` (behaviour 13).

mod balances;
mod create;
mod delete;
mod details;
mod get;
mod last_name;
mod recognitions;
mod transactions;
mod update;
mod view;
mod wallet_view;

pub(crate) use balances::Balances;
pub(crate) use create::Create;
pub(crate) use delete::Delete;
pub(crate) use get::Get;
pub(crate) use recognitions::{Received, Sent};
pub(crate) use transactions::{TransactionView, Transactions};
pub(crate) use update::Update;
pub(crate) use view::UserView;
pub(crate) use wallet_view::WalletView;

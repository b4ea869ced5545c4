//! `/v1/users` (behaviour 13).

mod balances;
mod create;
mod delete;
mod get;
mod recognitions;
mod transactions;
mod update;

pub(crate) use balances::GetBalances;
pub(crate) use create::Create;
pub(crate) use delete::Delete;
pub(crate) use get::Get;
pub(crate) use recognitions::{ListRecognitionsReceived, ListRecognitionsSent};
pub(crate) use transactions::{ListTransactions, TransactionView};
pub(crate) use update::Update;

//! Users (behaviour 13).

mod create;
mod delete;
mod erase;
mod find;
mod import;
mod open_wallets;
mod update;

pub use crate::look_up::user as anybodys;
pub use create::{CreateUserError, create, create_all};
pub use delete::{DeleteUser, DeleteUserError};
pub use erase::{ERASED_AT_ONCE, EraseUserError, erase, erase_from_events};
pub use find::{Found, Key, find_all};
pub use import::{ImportRecord, Imported, import};
pub(crate) use open_wallets::open_wallets;
pub use update::{UpdateUser, UpdateUserError, update, would_change};

pub use crate::model::{Details, Person, Profile, UpdateDetails, User, full_name};

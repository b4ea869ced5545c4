//! Users (behaviour 13).

mod create;
mod delete;
mod erase;
mod find;
mod import;
mod open_wallets;
mod update;

pub use create::{CreateUserError, create, create_many};
pub use delete::{DeleteUser, DeleteUserError};
pub use erase::{ERASED_BODIES_MAX, EraseUserError, erase, erase_from_events};
pub use find::{UserKey, UserMatch, match_users};
pub use import::{ImportOutcome, ImportRecord, ImportStage, import_users, record_import};
pub(crate) use open_wallets::open_wallets;
pub use update::{UpdateUser, UpdateUserError, update, would_change};

pub use crate::model::{Details, Profile, UpdateDetails, User, UserSummary, full_name};

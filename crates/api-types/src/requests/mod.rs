//! The readers of request bodies that are also used outside the API, for imports.

mod import;
mod user;

pub use import::{importable_user_fields, parse_imported_changes, parse_imported_profile};
pub use user::{NewUser, read_new_user, read_user_changes};

//! Bodies of requests that the API and other readers share.

mod import;
mod user;

pub use import::{imported_changes, imported_profile, imported_user_fields};
pub use user::{NewUser, new_user, user_changes};

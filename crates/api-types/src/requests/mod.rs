//! The readers of the bodies that create and change companies and users. The readers for creating and changing an
//! object are in the same file, because their bodies share most fields. Imports also use the readers of users.

mod company;
mod import;
mod user;

pub use company::{read_company_changes, read_new_company};
pub use import::{importable_user_fields, parse_imported_changes, parse_imported_profile};
pub use user::{NewUser, read_new_user, read_user_changes};

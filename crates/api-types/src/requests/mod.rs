//! Bodies of requests that the API and other readers share.

mod import;
mod last_name;
mod sender_type;
mod user;

pub use import::{imported_changes, imported_profile, imported_user_fields};
pub use last_name::LastName;
pub use sender_type::SenderType;
pub use user::{NewUser, new_user, user_changes};

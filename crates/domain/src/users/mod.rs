//! Users (spec §2.5, §4.5; contract §4).

mod create;
mod delete;
mod user;

pub use create::{CreateUserError, create};
pub use delete::{DeleteUserError, delete};
pub use user::{Person, Profile, User, full_name};

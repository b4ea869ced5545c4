//! Users (behaviour 13).

mod create;
mod delete;
mod look_up;
mod update;
mod user;

pub use create::{CreateUserError, create};
pub use delete::{DeleteUserError, delete};
pub use look_up::for_operator;
pub use update::{UpdateUser, UpdateUserError, update};
pub use user::{Person, Profile, User, full_name};

//! Providers: the partners that call the API (behaviour 1.1, 9).

mod create;
mod rotate;
mod update;

pub use create::{CreateProvider, create};
pub use rotate::{NewSecret, rotate_secret};
pub use update::{UpdateProvider, UpdateProviderError, update};

pub use crate::model::{FormerSecret, Provider};

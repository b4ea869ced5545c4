//! Providers: the partners that call the API (behaviour 1.1, 9).

mod change;
mod create;
mod rotate;

pub use change::{ChangeProviderError, ProviderChange, change_provider};
pub use create::{CreateProvider, create};
pub use rotate::{NewSecret, rotate_secret};

pub use crate::model::{FormerSecret, Provider};

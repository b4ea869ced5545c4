//! Providers: the partners that call the API (spec §1, §5).

mod change;
mod create;

pub use change::{ChangeProviderError, change};
pub use create::{CreateProvider, create};

pub use crate::model::Provider;

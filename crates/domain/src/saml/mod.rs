//! The single sign-on settings of a company (behaviour 18).

mod expiry;
mod update;

pub use expiry::{ends_soon, tell_of_end};
pub use update::{UpdateSaml, UpdateSamlError, update};

pub use crate::model::SamlSettings;

//! The single sign-on settings of a company (behaviour 18).

mod expiry;
mod update;

pub use expiry::{near_or_past_expiry, notify_of_expiry};
pub use update::{UpdateSaml, UpdateSamlError, update};

pub use crate::model::SamlSettings;

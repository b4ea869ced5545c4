//! The single sign-on settings of a company (behaviour 18).

mod update;

pub use update::{UpdateSaml, UpdateSamlError, update};

pub use crate::model::SamlSettings;

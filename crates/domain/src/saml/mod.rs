//! The single sign-on settings of a company (spec §2.7, contract §4.9).

mod update;

pub use update::{UpdateSaml, UpdateSamlError, update};

pub use crate::model::SamlSettings;

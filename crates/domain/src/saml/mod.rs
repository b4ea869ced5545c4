//! The single sign-on settings of a company (spec §2.7, contract §4.9).

mod settings;
mod update;

pub use settings::SamlSettings;
pub use update::{UpdateSaml, UpdateSamlError, update};

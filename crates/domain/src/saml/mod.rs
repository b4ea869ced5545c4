//! The single sign-on settings of a company (behaviour 18).

mod settings;
mod update;

pub use settings::SamlSettings;
pub use update::{UpdateSaml, UpdateSamlError, update};

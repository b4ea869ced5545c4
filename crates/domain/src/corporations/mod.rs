//! Corporations: groupings of companies (behaviour 12).

mod create;
mod update;

pub use create::create;
pub use update::{UpdateCorporationError, update};

pub use crate::model::Corporation;

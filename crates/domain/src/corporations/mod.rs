//! Corporations: groupings of companies (spec §2.2, §4.2).

mod create;
mod update;

pub use create::create;
pub use update::{UpdateCorporationError, update};

pub use crate::model::Corporation;

//! Corporations: groupings of companies (behaviour 12).

mod corporation;
mod create;
mod update;

pub use corporation::Corporation;
pub use create::create;
pub use update::{UpdateCorporationError, update};

//! Corporations: groupings of companies (spec §2.2, §4.2).

mod corporation;
mod create;
mod update;

pub use corporation::Corporation;
pub use create::create;
pub use update::{UpdateCorporationError, update};

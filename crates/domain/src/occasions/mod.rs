//! Occasions: reasons for a recognition (spec §2.3, §4.3).

mod create;
mod occasion;

pub use create::{CreateOccasionError, create, create_global};
pub use occasion::{Occasion, OccasionText};

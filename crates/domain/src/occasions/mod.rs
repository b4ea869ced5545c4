//! Occasions: reasons for a recognition (behaviour 14).

mod create;
mod delete;
mod occasion;
mod update;

pub use create::{CreateOccasionError, create, create_global};
pub use delete::delete;
pub use occasion::{Occasion, OccasionText};
pub use update::{ChangeOccasionError, UpdateOccasion, update};

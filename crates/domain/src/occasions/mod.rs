//! Occasions: reasons for a recognition (behaviour 14).

mod create;
mod delete;
mod update;

pub use create::{CreateOccasionError, create, create_global};
pub use delete::delete;
pub use update::{ChangeOccasionError, UpdateOccasion, update};

pub use crate::model::{Occasion, OccasionText};

//! Occasions: reasons for a recognition (behaviour 14).

mod create;
mod delete;
mod global;
mod update;

pub use create::{CreateOccasionError, create};
pub use delete::delete;
pub use global::{GlobalOccasionError, create_global, delete_global, set_global};
pub use update::{UpdateOccasion, UpdateOccasionError, update};

pub use crate::model::{Occasion, OccasionText};

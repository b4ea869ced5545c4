//! Occasions.

use super::{Lookup, StoreError};
use crate::occasions::Occasion;
use crate::recognitions::Recognition;
use crate::values::{OccasionId, ProviderId};

/// Reading occasions.
pub trait ReadOccasions {
    /// The occasion of an id; a global one is everybody's own, a deleted one is absent.
    fn occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError>;
}

/// Writing occasions and the recognitions given for them.
pub trait Occasions: ReadOccasions {
    /// Adds an occasion.
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError>;

    /// Adds recognitions, any number of them.
    fn insert_recognitions(&mut self, recognitions: &[Recognition]) -> Result<(), StoreError>;
}

//! Occasions.

use super::{Lookup, StoreError, Timestamp};
use crate::model::Occasion;
use crate::values::{CompanyId, Line, OccasionId, Page, ProviderId};

pub trait ReadOccasions {
    /// The occasion of an id; a global one is everybody's own, a deleted one is absent.
    fn occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError>;

    /// The global occasions, oldest first.
    fn global_occasions(&mut self) -> Result<Vec<Occasion>, StoreError>;

    /// A page of the occasions that a company can use, the global ones included, oldest first, ties by id.
    fn occasions(&mut self, company: CompanyId, page: Page) -> Result<Vec<Occasion>, StoreError>;

    /// The name of an occasion, a deleted one included (behaviour 14.4).
    fn occasion_name(&mut self, id: OccasionId) -> Result<Option<Line>, StoreError>;

    /// How many occasions all pages list.
    fn occasion_count(&mut self, company: CompanyId) -> Result<i64, StoreError>;
}

/// Writing occasions.
pub trait Occasions: ReadOccasions {
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError>;

    /// Writes everything that can change of an occasion that this transaction holds.
    fn update_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError>;

    /// Marks an occasion deleted: from then on it is absent, save to what names it already.
    fn mark_occasion_deleted(&mut self, id: OccasionId, at: Timestamp) -> Result<(), StoreError>;
}

//! Occasions.

use super::{Lookup, StoreError, Timestamp};
use crate::model::Occasion;
use crate::values::{CompanyId, OccasionId, Page, ProviderId, SingleLine};

pub trait ReadOccasions {
    /// Looks up an occasion. A global occasion belongs to every provider; a deleted one is not found.
    fn find_occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError>;

    /// The global occasions, oldest first.
    fn list_global_occasions(&mut self) -> Result<Vec<Occasion>, StoreError>;

    /// A page of the occasions that a company can use, including the global ones, oldest first, ties by id.
    fn list_occasions(&mut self, company: CompanyId, page: Page) -> Result<Vec<Occasion>, StoreError>;

    /// The name of an occasion, even of a deleted one (behaviour 14.4).
    fn find_occasion_name(&mut self, id: OccasionId) -> Result<Option<SingleLine>, StoreError>;

    /// The number of occasions on all pages.
    fn count_occasions(&mut self, company: CompanyId) -> Result<i64, StoreError>;
}

/// Writes occasions.
pub trait Occasions: ReadOccasions {
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError>;

    /// Writes all changeable fields of an occasion that this transaction has locked.
    fn update_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError>;

    /// Marks an occasion as deleted. From then on it is not found, but objects that refer to it keep the
    /// reference.
    fn mark_occasion_deleted(&mut self, id: OccasionId, at: Timestamp) -> Result<(), StoreError>;
}

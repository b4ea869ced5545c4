//! Corporations.

use super::{Lookup, StoreError};
use crate::model::Corporation;
use crate::values::{CorporationId, Page, ProviderId};

pub trait ReadCorporations {
    /// Looks up a corporation.
    fn find_corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError>;

    /// A page of the provider's corporations, oldest first, ties by id.
    fn list_corporations(&mut self, scope: ProviderId, page: Page) -> Result<Vec<Corporation>, StoreError>;

    /// The number of corporations on all pages.
    fn count_corporations(&mut self, scope: ProviderId) -> Result<i64, StoreError>;
}

/// Writes corporations.
pub trait Corporations: ReadCorporations {
    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError>;

    /// Writes all changeable fields of a corporation that this transaction has locked.
    fn update_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError>;
}

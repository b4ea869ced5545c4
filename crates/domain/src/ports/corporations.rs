//! Corporations.

use super::{Lookup, StoreError};
use crate::model::Corporation;
use crate::values::{CorporationId, Page, ProviderId};

pub trait ReadCorporations {
    /// The corporation of an id.
    fn corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError>;

    /// A page of the provider's corporations, oldest first, ties by id.
    fn corporations(&mut self, scope: ProviderId, page: Page) -> Result<Vec<Corporation>, StoreError>;

    /// How many corporations all pages list.
    fn corporation_count(&mut self, scope: ProviderId) -> Result<i64, StoreError>;
}

/// Writing corporations.
pub trait Corporations: ReadCorporations {
    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError>;

    /// Writes everything that can change of a corporation that this transaction holds.
    fn update_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError>;
}

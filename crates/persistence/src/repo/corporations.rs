//! Corporations.

use diesel::prelude::*;
use guerdon_domain::corporations::Corporation;
use guerdon_domain::ports::{Corporations, Lookup, ReadCorporations, StoreError};
use guerdon_domain::values::{CorporationId, Page, ProviderId};

use super::Unit;
use crate::rows::schema::corporations;
use crate::rows::{CorporationRow, Id};

impl ReadCorporations for Unit<'_> {
    fn find_corporation(
        &mut self,
        scope: ProviderId,
        id: CorporationId,
    ) -> Result<Lookup<Corporation>, StoreError> {
        self.find_in_scope(scope, CorporationRow::into_corporation, |conn| {
            corporations::table
                .find(Id(id))
                .select((corporations::provider_id, CorporationRow::as_select()))
                .get_result(conn)
        })
    }

    fn list_corporations(&mut self, scope: ProviderId, page: Page) -> Result<Vec<Corporation>, StoreError> {
        self.list(CorporationRow::into_corporation, |conn| {
            corporations::table
                .filter(corporations::provider_id.eq(Id(scope)))
                .order((corporations::created_at, corporations::id))
                .limit(page.limit())
                .offset(page.offset())
                .select(CorporationRow::as_select())
                .get_results(conn)
        })
    }

    fn count_corporations(&mut self, scope: ProviderId) -> Result<i64, StoreError> {
        self.query(|conn| {
            corporations::table.filter(corporations::provider_id.eq(Id(scope))).count().get_result(conn)
        })
    }
}

impl Corporations for Unit<'_> {
    fn insert_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        let row = CorporationRow::from_corporation(corporation);
        self.execute(|conn| diesel::insert_into(corporations::table).values(&row).execute(conn))
    }

    fn update_corporation(&mut self, corporation: &Corporation) -> Result<(), StoreError> {
        let row = CorporationRow::from_corporation(corporation);
        self.execute(|conn| diesel::update(corporations::table.find(row.id)).set(&row).execute(conn))
    }
}

//! Occasions.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::{Lookup, Occasions, ReadOccasions, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, OccasionId, Page, ProviderId, SingleLine};

use super::{Unit, placeholder};
use crate::rows::schema::{companies, occasions};
use crate::rows::{DbTimestamp, Id, Identifier, OccasionRow, RowReader};

/// Selects a page. The oldest occasions of the company and the oldest global ones are read from the index
/// separately and merged, so that only the rows of the page are read.
fn page_query() -> String {
    let side = |condition: &str, name: &str| {
        format!(
            "SELECT * FROM (SELECT id, created_at FROM occasions WHERE company_id {condition} AND deleted_at IS NULL \
             ORDER BY created_at, id LIMIT {}) AS {name}",
            placeholder(2)
        )
    };
    format!(
        "SELECT occasions.* FROM (SELECT id FROM ({} UNION ALL {}) AS usable \
         ORDER BY created_at, id LIMIT {} OFFSET {}) AS page JOIN occasions ON occasions.id = page.id \
         ORDER BY occasions.created_at, occasions.id",
        side(&format!("= {}", placeholder(1)), "own"),
        side("IS NULL", "global"),
        placeholder(3),
        placeholder(4),
    )
}

impl ReadOccasions for Unit<'_> {
    fn find_occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError> {
        self.find_in_scope(scope, OccasionRow::into_occasion, |conn| {
            let (owner, row): (Option<Id<ProviderId>>, _) = occasions::table
                .left_join(companies::table.on(occasions::company_id.eq(companies::id.nullable())))
                .filter(occasions::id.eq(Id(id)).and(occasions::deleted_at.is_null()))
                .select((companies::provider_id.nullable(), OccasionRow::as_select()))
                .get_result(conn)?;
            Ok((owner.unwrap_or(Id(scope)), row)) // a global occasion has no owner and belongs to every provider
        })
    }

    fn list_global_occasions(&mut self) -> Result<Vec<Occasion>, StoreError> {
        self.list(OccasionRow::into_occasion, |conn| {
            occasions::table
                .filter(occasions::company_id.is_null().and(occasions::deleted_at.is_null()))
                .order((occasions::created_at, occasions::id))
                .select(OccasionRow::as_select())
                .get_results(conn)
        })
    }

    fn list_occasions(&mut self, company: CompanyId, page: Page) -> Result<Vec<Occasion>, StoreError> {
        let end = page.offset().saturating_add(page.limit());
        self.list(OccasionRow::into_occasion, |conn| {
            diesel::sql_query(page_query())
                .bind::<Identifier, _>(Id(company))
                .bind::<BigInt, _>(end)
                .bind::<BigInt, _>(page.limit())
                .bind::<BigInt, _>(page.offset())
                .get_results(conn)
        })
    }

    fn find_occasion_name(&mut self, id: OccasionId) -> Result<Option<SingleLine>, StoreError> {
        let reader = RowReader { table: "occasions", id: &id };
        let convert = |name: String| reader.parse_column("name", &name, SingleLine::parse);
        self.find(convert, |conn| occasions::table.find(Id(id)).select(occasions::name).get_result(conn))
    }

    fn count_occasions(&mut self, company: CompanyId) -> Result<i64, StoreError> {
        let company = Id(company);
        let active = occasions::table.filter(occasions::deleted_at.is_null());
        let own: i64 =
            self.query(|conn| active.filter(occasions::company_id.eq(company)).count().get_result(conn))?;
        let global: i64 =
            self.query(|conn| active.filter(occasions::company_id.is_null()).count().get_result(conn))?;
        Ok(own.saturating_add(global))
    }
}

impl Occasions for Unit<'_> {
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        let row = OccasionRow::from_occasion(occasion);
        self.execute(|conn| diesel::insert_into(occasions::table).values(&row).execute(conn))
    }

    fn update_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        let row = OccasionRow::from_occasion(occasion);
        let id = Id(occasion.id);
        self.execute(|conn| diesel::update(occasions::table.find(id)).set(&row).execute(conn))
    }

    fn mark_occasion_deleted(&mut self, id: OccasionId, at: Timestamp) -> Result<(), StoreError> {
        self.execute(|conn| {
            diesel::update(occasions::table.find(Id(id)))
                .set((
                    occasions::deleted_at.eq(Some(DbTimestamp(at))),
                    occasions::updated_at.eq(DbTimestamp(at)),
                ))
                .execute(conn)
        })
    }
}

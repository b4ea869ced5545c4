//! Occasions, and the recognitions given for them.

use diesel::prelude::*;
use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::{Lookup, Occasions, ReadOccasions, StoreError};
use guerdon_domain::recognitions::Recognition;
use guerdon_domain::values::{OccasionId, ProviderId};

use super::super::BINDS;
use super::Unit;
use crate::rows::{OccasionRow, RecognitionRow};
use crate::schema::{companies, occasions, recognitions};
use crate::types::Id;

impl ReadOccasions for Unit<'_> {
    fn occasion(&mut self, scope: ProviderId, id: OccasionId) -> Result<Lookup<Occasion>, StoreError> {
        let found: Option<(Option<Id>, OccasionRow)> = self.query(|conn| {
            occasions::table
                .left_join(companies::table.on(occasions::company_id.eq(companies::id.nullable())))
                .filter(occasions::id.eq(Id(id.as_uuid())).and(occasions::deleted_at.is_null()))
                .select((companies::provider_id.nullable(), OccasionRow::as_select()))
                .get_result(conn)
                .optional()
        })?;
        match found {
            None => Ok(Lookup::Absent),
            Some((Some(owner), _)) if owner.0 != scope.as_uuid() => Ok(Lookup::Foreign),
            Some((_, row)) => self.keep(row.read()).map(Lookup::Own),
        }
    }
}

impl Occasions for Unit<'_> {
    fn insert_occasion(&mut self, occasion: &Occasion) -> Result<(), StoreError> {
        let row = OccasionRow::of(occasion);
        self.query(|conn| diesel::insert_into(occasions::table).values(&row).execute(conn))?;
        Ok(())
    }

    fn insert_recognitions(&mut self, recognitions: &[Recognition]) -> Result<(), StoreError> {
        for slice in recognitions.chunks(BINDS / RecognitionRow::COLUMNS) {
            let rows: Vec<RecognitionRow<'_>> = slice.iter().map(RecognitionRow::of).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(recognitions::table).values(one).execute(conn),
                many => diesel::insert_into(recognitions::table).values(many).execute(conn),
            })?;
        }
        Ok(())
    }
}

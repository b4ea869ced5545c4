//! Ranges of ids, by which the checks of `growing_tables` divide their tables.

use diesel::dsl::sql;
use diesel::prelude::*;
use guerdon_domain::ports::StoreError;
use uuid::Uuid;

use super::{Unit, id_literal};
use crate::rows::{Id, Identifier};

/// The maximum number of rows of a table in a range. A single id can have more transfers or attempts.
const RANGE_ROWS_MAX: usize = 10_000;
/// The tables that are divided into ranges, each with the column of the id. Ids increase with time, so a range covers
/// about the same period in every table.
const TABLES: [(&str, &str); 6] = [
    ("journal_entries", "id"),
    ("transfers", "journal_entry_id"),
    ("recognitions", "id"),
    ("events", "id"),
    ("deliveries", "event_id"),
    ("attempts", "event_id"),
];

/// A range of ids: those after `after`, up to and including `last`. `None` is the smallest or the largest id.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdRange {
    after: Option<Uuid>,
    pub(super) last: Option<Uuid>,
}

impl IdRange {
    /// The condition, as SQL, that a column is in the range. It always has two bounds: without one, PostgreSQL expects
    /// a large part of the table.
    pub(super) fn contains(&self, column: &str) -> String {
        let (comparison, after) = self.after.map_or((">=", Uuid::nil()), |after| (">", after));
        let last = self.last.unwrap_or(Uuid::max());
        format!("{column} {comparison} {} AND {column} <= {}", id_literal(after), id_literal(last))
    }
}

impl Unit<'_> {
    /// The range after an id. It ends at the first id at which a table has `RANGE_ROWS_MAX` rows in it.
    pub(super) fn next_id_range(&mut self, after: Option<Uuid>) -> Result<IdRange, StoreError> {
        let rest = IdRange { after, last: None };
        let mut ends: Vec<Uuid> = Vec::new();
        for (table, column) in TABLES {
            let query = format!(
                "SELECT {column} FROM {table} WHERE {} ORDER BY {column} LIMIT 1 OFFSET {}",
                rest.contains(column),
                RANGE_ROWS_MAX - 1
            );
            let end: Option<Id> = self.query(|conn| sql::<Identifier>(&query).get_result(conn).optional())?;
            ends.extend(end.map(|id| id.0));
        }
        Ok(IdRange { last: ends.into_iter().min(), ..rest })
    }
}

#[cfg(test)]
mod tests {
    use super::{IdRange, Uuid, id_literal};

    #[test]
    fn a_range_contains_the_ids_between_its_bounds() {
        let check = |after: Option<Uuid>, last: Option<Uuid>, comparison: &str, bounds: [Uuid; 2]| {
            let [lower, upper] = bounds.map(id_literal);
            let expected = format!("t.id {comparison} {lower} AND t.id <= {upper}");
            assert_eq!(IdRange { after, last }.contains("t.id"), expected);
        };
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        check(None, None, ">=", [Uuid::nil(), Uuid::max()]);
        check(Some(one), None, ">", [one, Uuid::max()]);
        check(None, Some(two), ">=", [Uuid::nil(), two]);
        check(Some(one), Some(two), ">", [one, two]);
    }
}

//! Ranges of ids, by which the checks of `growing_tables` divide their tables.

use diesel::dsl::sql;
use diesel::prelude::*;
use guerdon_domain::ports::StoreError;
use uuid::Uuid;

use super::super::super::id_literal;
use super::super::Unit;
use crate::rows::types::{Id, Identifier};

/// The maximum number of rows of a table in a range. A journal entry can have more transfers.
const RANGE_ROWS_MAX: usize = 10_000;
/// The tables whose rows are counted, with the column by which they are divided into ranges. The ids of a transaction
/// were created at about the same time, so a range of ids contains the rows of the same transactions in all tables.
const TABLES: [(&str, &str); 5] = [
    ("journal_entries", "id"),
    ("transfers", "journal_entry_id"),
    ("recognitions", "id"),
    ("events", "id"),
    ("deliveries", "event_id"),
];

/// A range of ids: those after `after`, up to and including `last`. `None` is no bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdRange {
    after: Option<Uuid>,
    pub(super) last: Option<Uuid>,
}

impl IdRange {
    /// The condition, as SQL, that a column is in the range.
    pub(super) fn contains(&self, column: &str) -> String {
        let after = self.after.map(|after| format!("{column} > {}", id_literal(after)));
        let last = self.last.map(|last| format!("{column} <= {}", id_literal(last)));
        match (after, last) {
            (Some(after), Some(last)) => format!("{after} AND {last}"),
            (Some(bound), None) | (None, Some(bound)) => bound,
            (None, None) => "1 = 1".to_owned(),
        }
    }
}

impl Unit<'_> {
    /// The range after an id. It ends before any table has too many rows in it.
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
    use super::{IdRange, Uuid};

    #[test]
    fn a_range_contains_the_ids_between_its_bounds() {
        let check = |after: Option<u128>, last: Option<u128>, bounds: usize| {
            let range = IdRange { after: after.map(Uuid::from_u128), last: last.map(Uuid::from_u128) };
            assert_eq!(range.contains("t.id").matches("t.id").count(), bounds);
        };
        check(None, None, 0);
        check(Some(1), None, 1);
        check(None, Some(2), 1);
        check(Some(1), Some(2), 2);
    }
}

//! Journal entries.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::journal::JournalEntry;
use guerdon_domain::ports::{JournalEntries, ReadJournalEntries, StoreError};
use guerdon_domain::redemptions::{Redemption, redemption_of_entry};
use guerdon_domain::values::RedemptionId;

use super::Unit;
use crate::rows::conditions::IS_ONCE_PER_SUBJECT;
use crate::rows::schema::journal_entries;
use crate::rows::{Id, JournalEntryRow, kind};

impl ReadJournalEntries for Unit<'_> {
    fn find_redemption(&mut self, id: RedemptionId) -> Result<Option<Redemption>, StoreError> {
        let subject = Id(id);
        let convert = |row: JournalEntryRow<'static>| row.to_journal_entry();
        let found = self.find(convert, |conn| {
            journal_entries::table
                .filter(journal_entries::id.eq(subject).and(journal_entries::kind.eq(kind::REDEMPTION)))
                .select(JournalEntryRow::as_select())
                .get_result(conn)
        })?;
        let Some(entry) = found else { return Ok(None) };
        let refunds: i64 = self.query(|conn| {
            journal_entries::table
                .filter(journal_entries::subject_id.eq(Some(subject)))
                .filter(sql::<Bool>(IS_ONCE_PER_SUBJECT))
                .count()
                .get_result(conn)
        })?;
        self.record_failure(redemption_of_entry(&entry, refunds > 0))
    }
}

impl JournalEntries for Unit<'_> {
    fn record_journal_entry(&mut self, entry: &JournalEntry) -> Result<(), StoreError> {
        let row = JournalEntryRow::from_entry(entry);
        self.execute(|conn| diesel::insert_into(journal_entries::table).values(&row).execute(conn))
    }
}

//! Reads journal entries and what belongs to them page by page.

use std::collections::HashMap;

use diesel::prelude::*;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{JournalEntryId, checked_cast};

use super::Unit;
use crate::rows::schema::{journal_entries, recognitions, transfers};
use crate::rows::{Id, JournalEntryRow, RecognitionRow, TransferRow};
use crate::statement_chunks::split_by_size;

/// The number of journal entries on a page.
pub(super) const PAGE_ENTRIES: i64 = 1_000;
/// The maximum number of legs that are read together.
pub(super) const BATCH_LEGS_MAX: i64 = 10_000;

/// The last entry before a page: its position in the journal and its id.
pub(super) type JournalPosition = (i64, Id<JournalEntryId>);
pub(super) type PositionedEntry = (i64, JournalEntryRow<'static>);

/// Loads the rows of a table that belong to the journal entries of a batch, in the order of the entries' ids and of
/// their legs: the rows in the range of the ids, or those with the ids if the range has many other rows.
macro_rules! rows_of_batch {
    ($unit:expr, $batch:expr, $table:ident, $row:ty) => {{
        let all = $table::table.order(($table::journal_entry_id, $table::leg)).select(<$row>::as_select());
        let span = BatchSpan::of_batch($batch);
        let in_span = all.filter($table::journal_entry_id.between(span.first, span.last)).limit(span.limit);
        let rows: Vec<$row> = $unit.query(|conn| in_span.get_results(conn))?;
        if span.is_complete(rows.len()) {
            rows
        } else {
            $unit.query(|conn| all.filter($table::journal_entry_id.eq_any(span.ids)).get_results(conn))?
        }
    }};
}

impl Unit<'_> {
    /// The next journal entries in order: those at position `from` or later that come after the entry
    /// `after`.
    pub(super) fn load_entries_after(
        &mut self,
        from: i64,
        after: Option<JournalPosition>,
        limit: i64,
    ) -> Result<Vec<PositionedEntry>, StoreError> {
        let after = after.filter(|(position, _)| *position >= from);
        let all = journal_entries::table
            .order((journal_entries::position, journal_entries::id))
            .limit(limit)
            .select((journal_entries::position, JournalEntryRow::as_select()));
        self.query(|conn| match after {
            None => all.filter(journal_entries::position.ge(from)).get_results(conn),
            Some((position, id)) => all
                .filter(journal_entries::position.ge(position))
                .filter(journal_entries::position.gt(position).or(journal_entries::id.gt(id)))
                .get_results(conn),
        })
    }

    /// Journal entries by their ids, in no particular order.
    pub(super) fn load_entries_by_id(
        &mut self,
        ids: &[Id<JournalEntryId>],
    ) -> Result<HashMap<Id<JournalEntryId>, JournalEntryRow<'static>>, StoreError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let found: Vec<JournalEntryRow<'static>> = self.query(|conn| {
            journal_entries::table
                .filter(journal_entries::id.eq_any(ids))
                .select(JournalEntryRow::as_select())
                .get_results(conn)
        })?;
        Ok(found.into_iter().map(|entry| (entry.id, entry)).collect())
    }

    /// All transfers of journal entries.
    pub(super) fn load_transfers(
        &mut self,
        batch: &[PositionedEntry],
    ) -> Result<RowsByEntry<TransferRow>, StoreError> {
        let rows = rows_of_batch!(self, batch, transfers, TransferRow);
        Ok(RowsByEntry { rows, entry_of: |transfer| transfer.journal_entry_id })
    }

    /// Passes the transfers of a journal entry to `visit`, in the order of their legs. Without `loaded`, it reads them
    /// page by page, so that the entry may have any number of legs.
    pub(super) fn visit_transfers(
        &mut self,
        loaded: Option<&RowsByEntry<TransferRow>>,
        entry: Id<JournalEntryId>,
        visit: &mut dyn FnMut(&[TransferRow]),
    ) -> Result<(), StoreError> {
        if let Some(loaded) = loaded {
            visit(loaded.of_entry(entry));
            return Ok(());
        }
        let mut page = self.load_transfers_after(entry, i32::MIN)?;
        while let Some(last) = page.last().map(|transfer| transfer.leg) {
            visit(&page);
            page = self.load_transfers_after(entry, last)?;
        }
        Ok(())
    }

    /// The next transfers of one journal entry.
    fn load_transfers_after(
        &mut self,
        entry: Id<JournalEntryId>,
        leg: i32,
    ) -> Result<Vec<TransferRow>, StoreError> {
        self.query(|conn| {
            transfers::table
                .filter(transfers::journal_entry_id.eq(entry).and(transfers::leg.gt(leg)))
                .order(transfers::leg)
                .limit(BATCH_LEGS_MAX)
                .select(TransferRow::as_select())
                .get_results(conn)
        })
    }

    /// All recognitions of journal entries.
    pub(super) fn load_recognitions(
        &mut self,
        batch: &[PositionedEntry],
    ) -> Result<RowsByEntry<RecognitionRow>, StoreError> {
        Ok(RowsByEntry::from_recognitions(rows_of_batch!(self, batch, recognitions, RecognitionRow)))
    }
}

/// The range of the ids of a batch. The ids were created at about the same time, so the range contains little
/// else.
struct BatchSpan {
    ids: Vec<Id<JournalEntryId>>,
    first: Id<JournalEntryId>,
    last: Id<JournalEntryId>,
    limit: i64,
}

impl BatchSpan {
    fn of_batch(batch: &[PositionedEntry]) -> Self {
        let ids: Vec<Id<JournalEntryId>> = batch.iter().map(|(_, entry)| entry.id).collect();
        let nil = Id(uuid::Uuid::nil().into());
        let first = ids.iter().min().copied().unwrap_or(nil);
        let last = ids.iter().max().copied().unwrap_or(nil);
        let legs: usize = batch.iter().map(|(_, entry)| entry.leg_count() + 1).sum();
        Self { ids, first, last, limit: checked_cast(2 * legs) }
    }

    /// Whether the range was read to its end, given the number of rows that were read.
    fn is_complete(&self, rows: usize) -> bool {
        i64::try_from(rows).is_ok_and(|rows| rows < self.limit)
    }
}

/// The rows that belong to journal entries, ordered by the ids of the entries and by their legs.
pub(super) struct RowsByEntry<T> {
    rows: Vec<T>,
    /// The journal entry that a row belongs to.
    entry_of: fn(&T) -> Id<JournalEntryId>,
}

impl<T> RowsByEntry<T> {
    /// The rows of one journal entry.
    pub(super) fn of_entry(&self, entry: Id<JournalEntryId>) -> &[T] {
        let from = self.rows.partition_point(|row| (self.entry_of)(row) < entry);
        let all = self.rows.get(from..).unwrap_or_default();
        all.get(..all.partition_point(|row| (self.entry_of)(row) == entry)).unwrap_or_default()
    }
}

impl RowsByEntry<RecognitionRow> {
    pub(super) fn from_recognitions(rows: Vec<RecognitionRow>) -> Self {
        Self { rows, entry_of: |recognition| recognition.journal_entry_id }
    }
}

/// Divides a page of journal entries into batches. The recorded leg counts of a batch add up to at most
/// `BATCH_LEGS_MAX`, unless it is a single entry.
pub(super) fn split_into_batches(page: &[PositionedEntry]) -> Vec<&[PositionedEntry]> {
    split_by_size(page, page.len(), checked_cast(BATCH_LEGS_MAX), |(_, entry)| entry.leg_count())
}

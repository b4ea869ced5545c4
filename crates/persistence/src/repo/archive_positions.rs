//! The positions of imported rows on PostgreSQL, where all rows of a transaction have the same position and are
//! ordered by their ids. Ids increase with time, except when the clock was set back or differs between instances.
//! Where the order matters and the ids contradict it, the next position is used. SQLite numbers the rows as they are
//! inserted.

use guerdon_domain::ports::{ArchiveSection, ArchivedRow, ArchivedValue, StoreError};
use uuid::Uuid;

use super::{Unit, skip_transaction_id, transaction_position};
use crate::rows::kind;
use crate::rows::stored_columns::StoredColumn;

/// The position of the last imported row of a section.
#[derive(Default)]
pub(super) struct ArchivePositions {
    section: Option<ArchiveSection>,
    position: i64,
    /// The id of the last row whose order matters.
    last_id: Uuid,
}

impl Unit<'_> {
    /// The positions for rows of a section; `None` if the database assigns them.
    pub(super) fn positions_of_archived_rows(
        &mut self,
        section: ArchiveSection,
        columns: &[&StoredColumn],
        rows: &[ArchivedRow],
    ) -> Result<Option<Vec<i64>>, StoreError> {
        if !matches!(section, ArchiveSection::JournalEntries | ArchiveSection::AuditEntries) {
            return Ok(None);
        }
        if self.archive_positions.section != Some(section) {
            let Some(position) = self.query(transaction_position)? else { return Ok(None) };
            self.archive_positions =
                ArchivePositions { section: Some(section), position, last_id: Uuid::nil() };
        }
        let index = |name: &str| columns.iter().position(|column| column.name == name);
        let (id, kind) = (index("id"), index("kind"));
        let value = |row: &ArchivedRow, index: Option<usize>| index.and_then(|index| row.get(index)).cloned();
        let mut positions = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(ArchivedValue::Id(id)) = value(row, id)
                && order_matters(section, value(row, kind))
            {
                if id < self.archive_positions.last_id {
                    self.query(skip_transaction_id)?;
                    self.archive_positions.position += 1;
                }
                self.archive_positions.last_id = id;
            }
            positions.push(self.archive_positions.position);
        }
        Ok(Some(positions))
    }
}

/// Whether a row must keep its place in the order of the section. The latest audit entry has the digest of a state, and
/// the latest journal entry of some kinds has the state of a company or a recognition.
fn order_matters(section: ArchiveSection, kind: Option<ArchivedValue>) -> bool {
    let of_state =
        |kind: i64| kind <= i64::from(kind::COMPANY_TRANSFER) || kind == i64::from(kind::AMENDMENT);
    match kind {
        Some(ArchivedValue::Integer(kind)) => of_state(kind),
        _ => section == ArchiveSection::AuditEntries,
    }
}

//! The remaining work of distributions in steps.

use diesel::prelude::*;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{JournalEntryId, UserId};
use uuid::Uuid;

use super::schema::distribution_steps;
use super::{Id, RowReader};

/// The number of bytes of an id.
const ID_LENGTH: usize = 16;

/// The receivers of one step, as concatenated ids. `leg` is the leg of the first receiver.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = distribution_steps, treat_none_as_default_value = false)]
pub(crate) struct DistributionStepRow {
    pub(crate) journal_entry_id: Id<JournalEntryId>,
    pub(crate) leg: i32,
    receivers: Vec<u8>,
}

impl DistributionStepRow {
    pub(crate) fn from_receivers(entry_id: JournalEntryId, leg: i32, receivers: &[UserId]) -> Self {
        let receivers = receivers.iter().flat_map(AsRef::<[u8]>::as_ref).copied().collect();
        Self { journal_entry_id: Id(entry_id), leg, receivers }
    }

    /// The number of bytes of its receivers.
    pub(crate) fn byte_count(&self) -> usize {
        self.receivers.len()
    }

    pub(crate) fn to_receivers(&self) -> Result<Vec<UserId>, StoreError> {
        let reader = RowReader { table: "distribution_steps", id: &self.journal_entry_id.0 };
        let read = |bytes: &[u8]| Uuid::from_slice(bytes).ok().map(UserId::from);
        let found = self.receivers.chunks(ID_LENGTH).map(read).collect();
        reader.require_valid("receivers", found)
    }
}

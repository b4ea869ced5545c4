//! The limits of a unit of work on the single writer.

use std::time::{Duration, Instant};

use diesel::SqliteConnection;
use guerdon_domain::ports::StoreError;

use crate::engine::Locking;
use crate::write_form::WriteForm;

/// The limits of a unit of work.
pub(crate) struct UnitLimits {
    /// The unit does not commit after this time.
    deadline: Option<Instant>,
}

impl UnitLimits {
    /// The limits of a unit with this time limit, or without a deadline.
    pub(crate) fn new(time_limit: Option<Duration>) -> Self {
        Self { deadline: time_limit.map(|time_limit| Instant::now() + time_limit) }
    }

    /// With a single writer there are no locks to wait for.
    pub(crate) fn locking_mode(&self) -> Locking {
        Locking::Wait
    }

    /// Rows are written one by one.
    pub(crate) fn write_form(&self) -> WriteForm {
        WriteForm::StatementPerTable
    }

    pub(crate) fn enforce_deadline(&mut self, _conn: &mut SqliteConnection) -> Result<(), StoreError> {
        let is_over = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_over { Err(StoreError::DeadlineExceeded) } else { Ok(()) }
    }
}

//! What a unit of work on the one writer is held to.

use std::time::{Duration, Instant};

use diesel::SqliteConnection;
use guerdon_domain::ports::StoreError;

use crate::engine::Locking;

/// What a unit of work is held to.
pub(crate) struct UnitLimits {
    /// After this nothing of the unit commits.
    deadline: Option<Instant>,
}

impl UnitLimits {
    /// For a unit that has so much time, if it is limited at all.
    pub(crate) fn new(within: Option<Duration>) -> Self {
        Self { deadline: within.map(|it| Instant::now() + it) }
    }

    /// One writer has no locks to wait for.
    pub(crate) fn locking(&self) -> Locking {
        Locking::Wait
    }

    pub(crate) fn go_on(&mut self, _conn: &mut SqliteConnection) -> Result<(), StoreError> {
        let is_over = self.deadline.is_some_and(|it| it <= Instant::now());
        if is_over { Err(StoreError::DeadlineExceeded) } else { Ok(()) }
    }
}

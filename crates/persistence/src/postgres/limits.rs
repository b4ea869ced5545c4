//! The limits of a unit of work on PostgreSQL: its deadline, and whether it waits for locks.

use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Deadlines, StoreError};

use super::faults::classify;
use crate::engine::Locking;

/// The limits of one unit of work, over all its tries.
#[derive(Default)]
pub(crate) struct UnitLimits {
    /// The unit does not commit after this time.
    deadline: Option<Instant>,
    locking: Locking,
}

impl UnitLimits {
    /// For a unit that may take this long, or has no deadline, and waits for locks.
    pub(crate) fn new(within: Option<Duration>) -> Self {
        Self::locking_by(within, Locking::Wait)
    }

    pub(crate) fn locking_by(within: Option<Duration>, locking: Locking) -> Self {
        Self { deadline: within.map(|within| Instant::now() + within), locking }
    }

    pub(crate) fn locking(&self) -> Locking {
        self.locking
    }

    fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// How long the unit may wait now, at most `most`. Fails if its time is over.
    pub(crate) fn patience(&self, most: Duration) -> Result<Duration, StoreError> {
        let left = self.left();
        if left.is_zero() { Err(StoreError::DeadlineExceeded) } else { Ok(left.min(most)) }
    }

    /// Called before each statement and before the commit. Fails if the time is over. The remaining time
    /// limits the statement; this needs a round trip only if it is shorter than the general limit for
    /// statements.
    pub(crate) fn go_on(&mut self, conn: &mut PgConnection) -> Result<(), StoreError> {
        let left = self.left();
        if left >= Deadlines::REQUEST.statement {
            return Ok(());
        }
        if takes_its_time(conn, left).map_err(|e| classify(&e))? {
            self.deadline = None;
            return Ok(());
        }
        if left.is_zero() { Err(StoreError::DeadlineExceeded) } else { Ok(()) }
    }
}

/// Sets the remaining time as the limit of the following statements, unless the transaction has lifted their
/// limit. Returns whether it has.
fn takes_its_time(conn: &mut PgConnection, left: Duration) -> QueryResult<bool> {
    let limit = left.as_millis().max(1).to_string();
    let set = diesel::dsl::sql::<Text>(
        "set_config('statement_timeout', CASE current_setting('statement_timeout') WHEN '0' THEN '0' ELSE ",
    )
    .bind::<Text, _>(limit)
    .sql(" END, true)");
    diesel::select(set).get_result::<String>(conn).map(|value| value == "0")
}

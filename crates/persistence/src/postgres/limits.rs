//! What a unit of work on PostgreSQL is held to: its time, and whether it waits for locks.

use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Deadlines, StoreError};

use super::faults::classify;
use crate::engine::Locking;

/// What one unit of work is held to, over all its tries.
#[derive(Default)]
pub(crate) struct UnitLimits {
    /// After this nothing of the unit commits.
    deadline: Option<Instant>,
    locking: Locking,
}

impl UnitLimits {
    /// For a unit that has so much time, if it is limited at all, and waits for locks.
    pub(crate) fn new(within: Option<Duration>) -> Self {
        Self::locking_by(within, Locking::Wait)
    }

    pub(crate) fn locking_by(within: Option<Duration>, locking: Locking) -> Self {
        Self { deadline: within.map(|it| Instant::now() + it), locking }
    }

    pub(crate) fn locking(&self) -> Locking {
        self.locking
    }

    fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |it| it.saturating_duration_since(Instant::now()))
    }

    /// How long the unit may wait for something that it waits for at most so long; an error where its time is over.
    pub(crate) fn patience(&self, most: Duration) -> Result<Duration, StoreError> {
        let left = self.left();
        if left.is_zero() { Err(StoreError::DeadlineExceeded) } else { Ok(left.min(most)) }
    }

    /// Before each statement and before the commit: an error where the time is over. What is left bounds the
    /// statement; that takes a question to the server only where it is less than any statement has.
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

/// Bounds the statements that follow by the time that is left, unless the transaction has lifted their limit.
/// Answers whether it has.
fn takes_its_time(conn: &mut PgConnection, left: Duration) -> QueryResult<bool> {
    let limit = left.as_millis().max(1).to_string();
    let set = diesel::dsl::sql::<Text>(
        "set_config('statement_timeout', CASE current_setting('statement_timeout') WHEN '0' THEN '0' ELSE ",
    )
    .bind::<Text, _>(limit)
    .sql(" END, true)");
    diesel::select(set).get_result::<String>(conn).map(|it| it == "0")
}

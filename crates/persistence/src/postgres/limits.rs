//! The limits of a unit of work on PostgreSQL: its deadline, and whether it waits for locks.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Deadlines, StoreError};

use super::error_classes::classify_error;
use crate::engine::Locking;
use crate::write_form::WriteForm;

/// The limits of one unit of work, over all its attempts.
pub(crate) struct UnitLimits {
    /// The unit does not commit after this time.
    deadline: Option<Instant>,
    locking: Locking,
    waits_briefly: bool,
    write_form: WriteForm,
}

impl UnitLimits {
    /// The limits of a unit with this time limit, or without a deadline.
    pub(crate) fn new(time_limit: Option<Duration>, locking: Locking, write_form: WriteForm) -> Self {
        let deadline = time_limit.map(|time_limit| Instant::now() + time_limit);
        Self { deadline, locking, waits_briefly: false, write_form }
    }

    /// Shortens the waits for locks. For a unit that locks many rows: other transactions wait for the rows that it has
    /// already locked.
    pub(crate) fn wait_briefly_for_locks(&mut self) {
        self.waits_briefly = true;
    }

    /// The statement that starts a transaction that writes.
    pub(crate) fn begin_write(&self) -> Cow<'static, str> {
        const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
        if !self.waits_briefly {
            return BEGIN.into();
        }
        format!("{BEGIN}; SET LOCAL lock_timeout = {}", Deadlines::LARGE_LOCK.as_millis()).into()
    }

    pub(crate) fn write_form(&self) -> WriteForm {
        self.write_form
    }

    pub(crate) fn locking_mode(&self) -> Locking {
        self.locking
    }

    /// Whether the deadline has passed.
    pub(crate) fn is_over(&self) -> bool {
        self.time_left().is_zero()
    }

    fn time_left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// How long the unit may wait now, at most `wait_max`. Fails if its deadline has passed.
    pub(crate) fn wait_time(&self, wait_max: Duration) -> Result<Duration, StoreError> {
        let left = self.time_left();
        if left.is_zero() { Err(StoreError::DeadlineExceeded) } else { Ok(left.min(wait_max)) }
    }

    /// Called before each statement and before the commit. Fails if the deadline has passed. The remaining
    /// time limits the statement; setting that limit takes a round trip, which is made only if the remaining
    /// time is shorter than the general statement limit.
    pub(crate) fn enforce_deadline(&mut self, conn: &mut PgConnection) -> Result<(), StoreError> {
        let left = self.time_left();
        if left >= Deadlines::STATEMENT {
            return Ok(());
        }
        if limit_statement_time(conn, left).map_err(|e| classify_error(&e))? {
            self.deadline = None;
            return Ok(());
        }
        if left.is_zero() { Err(StoreError::DeadlineExceeded) } else { Ok(()) }
    }
}

/// Limits the following statements to the remaining time, unless the transaction has disabled the statement limit.
/// Returns whether it is disabled. The limit is rounded up, so that the deadline has passed when it ends a statement.
fn limit_statement_time(conn: &mut PgConnection, left: Duration) -> QueryResult<bool> {
    let limit = (left.as_millis() + 1).to_string();
    let set = diesel::dsl::sql::<Text>(
        "set_config('statement_timeout', CASE current_setting('statement_timeout') WHEN '0' THEN '0' ELSE ",
    )
    .bind::<Text, _>(limit)
    .sql(" END, true)");
    diesel::select(set).get_result::<String>(conn).map(|value| value == "0")
}

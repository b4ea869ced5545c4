//! The repositories, one file for each port of the domain. They are written once against [`super::Conn`] and
//! compiled once for each database. The parts that differ between the databases are defined in `super`, under
//! the same names for both.

mod accounts;
mod archive_positions;
mod audit;
mod audit_log;
mod companies;
mod company_archive;
mod company_moves;
mod corporations;
mod deliveries;
mod distribution_steps;
mod erasure;
mod events;
mod failed_requests;
mod feed;
mod idempotency;
mod journal_entries;
mod ledger;
mod locks;
mod notifications;
mod occasions;
mod providers;
mod recognitions;
mod replays;
mod retention;
mod saml;
mod schedules;
mod search;
mod settings;
mod statistics;
mod users;

pub(crate) use audit::audit_part;
use diesel::result::{OptionalExtension as _, QueryResult};
use guerdon_domain::ports::{LedgerTx, Lookup, ReadTx, StoreError, Tx};
use guerdon_domain::values::ProviderId;

// These names differ between the databases. The other modules of this folder import them from here; those that only
// `audit` needs are imported there.
use super::{
    BOUND_VALUES_MAX, BY_POSITION_HINT, Conn, DATABASE_BYTES, Db, HAS_FEED_INDEX, LOOKS_UP_ROWS_ONE_BY_ONE,
    OLDEST_EVENT_ID, RowByRow, UnitLimits, WITHOUT_INDEX, create_event_partitions,
    drop_expired_event_partition, end_of_row_deletion, feed_complete_before, feed_delay_micros, id_literal,
    keep_event_partitions, last_event_position_to_keep, load_accounts, load_records, lock_and_skip_locked,
    lock_companies_and_claim_keys, lock_company_provider, lock_events, lock_row, lock_row_in_journal_order,
    lock_user_and_company, placeholder, set_statement_timeout, skip_transaction_id, timestamp_literal,
    transaction_position, write_changes, write_settlements,
};
use crate::failpoint::failpoint;
use crate::queued_messages::QueuedMessages;
use crate::rows::Id;

/// One unit of work on one connection. It stores the first failure of the database, so that an error that the
/// caller ignores still rolls the unit back; after a failure it executes no further statement.
pub(crate) struct Unit<'a> {
    conn: &'a mut Conn,
    limits: &'a mut UnitLimits,
    failure: Option<StoreError>,
    queued: QueuedMessages,
    archive_positions: archive_positions::ArchivePositions,
}

impl<'a> Unit<'a> {
    pub(crate) fn new(conn: &'a mut Conn, limits: &'a mut UnitLimits) -> Self {
        Self {
            conn,
            limits,
            failure: None,
            queued: QueuedMessages::default(),
            archive_positions: archive_positions::ArchivePositions::default(),
        }
    }

    /// The first failure, if any, and the queued events and notifications.
    pub(crate) fn into_outcome(self) -> (Option<StoreError>, QueuedMessages) {
        (self.failure, self.queued)
    }

    /// Fails if the unit may not execute another statement or commit: after a failure, or after its deadline.
    pub(crate) fn ensure_active(&mut self) -> Result<(), StoreError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let result = self.limits.enforce_deadline(self.conn);
        self.record_failure(result)
    }

    /// Runs a query, and stores its failure.
    fn query<T>(&mut self, query: impl FnOnce(&mut Conn) -> QueryResult<T>) -> Result<T, StoreError> {
        self.ensure_active()?;
        let result = failpoint("unit.query").map_err(Into::into).and_then(|()| query(self.conn));
        let result = result.map_err(|e| super::classify_error(&e));
        self.record_failure(result)
    }

    /// Runs a statement whose row count does not matter, and stores its failure.
    fn execute(&mut self, statement: impl FnOnce(&mut Conn) -> QueryResult<usize>) -> Result<(), StoreError> {
        self.query(statement).map(drop)
    }

    /// Runs a query, and converts its rows.
    fn list<R, T>(
        &mut self,
        convert: impl FnMut(R) -> Result<T, StoreError>,
        query: impl FnOnce(&mut Conn) -> QueryResult<Vec<R>>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.query(query)?;
        self.record_failure(rows.into_iter().map(convert).collect())
    }

    /// Runs a query for at most one row, and converts the row.
    fn find<R, T>(
        &mut self,
        convert: impl FnOnce(R) -> Result<T, StoreError>,
        query: impl FnOnce(&mut Conn) -> QueryResult<R>,
    ) -> Result<Option<T>, StoreError> {
        let row = self.query(|conn| query(conn).optional())?;
        self.record_failure(row.map(convert).transpose())
    }

    /// Runs a query for at most one row and the provider that owns it, and converts the row if that provider is
    /// `scope`.
    fn find_in_scope<R, T>(
        &mut self,
        scope: ProviderId,
        convert: impl FnOnce(R) -> Result<T, StoreError>,
        query: impl FnOnce(&mut Conn) -> QueryResult<(Id<ProviderId>, R)>,
    ) -> Result<Lookup<T>, StoreError> {
        let found = self.query(|conn| query(conn).optional())?;
        let found = Lookup::in_scope(scope, found.map(|(owner, row)| (owner.0, row)));
        self.record_failure(found.try_map(convert))
    }

    /// Stores the failure of a result, such as that of reading a row.
    fn record_failure<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        result.inspect_err(|e| {
            self.failure.get_or_insert_with(|| e.clone());
        })
    }
}

/// Converts a row that is only an id.
fn into_id<T>(id: Id<T>) -> Result<T, StoreError> {
    Ok(id.0)
}

/// Disables the statement timeout for the rest of the transaction. It needs a transaction: on PostgreSQL it has no
/// effect on reads with `Consistency::PerStatement`, which run outside one.
fn disable_statement_timeout(conn: &mut Conn) -> QueryResult<()> {
    set_statement_timeout(conn, None)
}

/// Placeholders for rows of `width` values, numbered from 1: `($1, $2), ($3, $4)`.
fn row_placeholders(rows: usize, width: usize) -> String {
    let mut placeholders = (1..).map(placeholder);
    let mut row = || placeholders.by_ref().take(width).collect::<Vec<_>>().join(", ");
    (0..rows).map(|_| format!("({})", row())).collect::<Vec<_>>().join(", ")
}

impl ReadTx for Unit<'_> {}
impl LedgerTx for Unit<'_> {}
impl Tx for Unit<'_> {}

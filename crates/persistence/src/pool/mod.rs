//! Connection pools. A connection that fails to start or end a transaction leaves its pool.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use guerdon_domain::ports::Deadlines;

pub(crate) mod wait_metrics;

use wait_metrics::PoolWaitRecorder;

/// The time limit for the first connection. At its start, the service may wait longer for a busy server than a
/// request may.
const FIRST_CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) type Pool<C> = r2d2::Pool<ConnectionManager<C>>;
pub(crate) type PoolGuard<C> = r2d2::PooledConnection<ConnectionManager<C>>;

/// A connection, and whether it has a transaction that has not ended.
pub(crate) struct PoolConnection<C> {
    pub(crate) conn: C,
    has_open_transaction: bool,
}

impl<C: SimpleConnection> PoolConnection<C> {
    /// Starts a transaction. The pool does not reuse the connection unless [`end`](Self::end) succeeds.
    pub(crate) fn begin(&mut self, sql: &str) -> QueryResult<()> {
        self.has_open_transaction = true;
        self.conn.batch_execute(sql)
    }

    /// Ends a transaction. If that fails, the state of the connection is unknown, and the pool does not reuse
    /// it.
    pub(crate) fn end(&mut self, sql: &str) -> QueryResult<()> {
        self.has_open_transaction = true;
        self.conn.batch_execute(sql)?;
        self.has_open_transaction = false;
        Ok(())
    }
}

/// Creates connections for a pool.
pub(crate) struct ConnectionManager<C> {
    connect: Box<dyn Fn() -> ConnectionResult<C> + Send + Sync>,
}

impl<C: Send + 'static> r2d2::ManageConnection for ConnectionManager<C> {
    type Connection = PoolConnection<C>;
    type Error = ConnectionError;

    fn connect(&self) -> ConnectionResult<PoolConnection<C>> {
        (self.connect)().map(|conn| PoolConnection { conn, has_open_transaction: false })
    }

    fn is_valid(&self, _link: &mut PoolConnection<C>) -> ConnectionResult<()> {
        Ok(()) // a dead connection is noticed and replaced at BEGIN
    }

    fn has_broken(&self, connection: &mut PoolConnection<C>) -> bool {
        connection.has_open_transaction
    }
}

/// Creates a pool with a maximum number of connections. While fewer than `idle_min` are idle, the pool opens more.
/// Unless `idle_min` is 0, the first is opened before this function returns.
pub(crate) fn create_pool<C: Send + 'static>(
    connections_max: u32,
    idle_min: u32,
    connect: impl Fn() -> ConnectionResult<C> + Send + Sync + 'static,
) -> Result<Pool<C>, r2d2::Error> {
    let pool = r2d2::Pool::builder()
        .max_size(connections_max)
        .min_idle(Some(idle_min))
        .connection_timeout(Deadlines::CONNECTION)
        .test_on_check_out(false)
        .event_handler(Box::new(PoolWaitRecorder))
        .build_unchecked(ConnectionManager { connect: Box::new(connect) });
    if idle_min > 0 {
        pool.get_timeout(FIRST_CONNECTION_TIMEOUT)?;
    }
    Ok(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_the_pool_after_a_failed_rollback() {
        let pool = create_pool(1, 1, || SqliteConnection::establish(":memory:")).unwrap();
        pool.get().unwrap().conn.batch_execute("CREATE TABLE mark (id INTEGER)").unwrap();
        let is_the_same = || pool.get().unwrap().conn.batch_execute("INSERT INTO mark VALUES (1)").is_ok();
        let mut connection = pool.get().unwrap();
        connection.begin("BEGIN").unwrap();
        connection.end("ROLLBACK").unwrap();
        drop(connection);
        assert!(is_the_same());
        pool.get().unwrap().end("ROLLBACK").unwrap_err(); // fails, because no transaction is open
        assert!(!is_the_same());
    }

    #[test]
    fn connections_leave_the_pool_if_their_transaction_did_not_end() {
        let pool = create_pool(1, 1, || SqliteConnection::establish(":memory:")).unwrap();
        pool.get().unwrap().conn.batch_execute("CREATE TABLE mark (id INTEGER)").unwrap();
        let panics = || {
            let mut connection = pool.get().unwrap();
            connection.begin("BEGIN").unwrap();
            std::panic::resume_unwind(Box::new("before the commit"));
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).unwrap_err();
        pool.get().unwrap().begin("BEGIN").unwrap();
        pool.get().unwrap().conn.batch_execute("INSERT INTO mark VALUES (1)").unwrap_err();
    }
}

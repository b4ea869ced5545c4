//! Connection pools. A connection on which a transaction could not be started or ended leaves its pool.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use guerdon_domain::ports::Deadlines;

pub(crate) mod waits;

use waits::PoolWaits;

pub(crate) type Pool<C> = r2d2::Pool<Manager<C>>;
pub(crate) type Pooled<C> = r2d2::PooledConnection<Manager<C>>;

/// A connection, and whether it had a failure that a rollback did not resolve.
pub(crate) struct Link<C> {
    pub(crate) conn: C,
    broken: bool,
}

impl<C: SimpleConnection> Link<C> {
    /// Starts or ends a transaction. If that fails, the state of the connection is unknown, and the pool does
    /// not reuse it.
    pub(crate) fn control(&mut self, sql: &str) -> QueryResult<()> {
        let done = self.conn.batch_execute(sql);
        self.broken |= done.is_err();
        done
    }
}

/// Creates connections for a pool.
pub(crate) struct Manager<C> {
    connect: Box<dyn Fn() -> ConnectionResult<C> + Send + Sync>,
}

impl<C: Send + 'static> r2d2::ManageConnection for Manager<C> {
    type Connection = Link<C>;
    type Error = ConnectionError;

    fn connect(&self) -> ConnectionResult<Link<C>> {
        (self.connect)().map(|conn| Link { conn, broken: false })
    }

    fn is_valid(&self, _link: &mut Link<C>) -> ConnectionResult<()> {
        Ok(()) // a dead connection is noticed and replaced at BEGIN
    }

    fn has_broken(&self, link: &mut Link<C>) -> bool {
        link.broken
    }
}

/// A pool of at most this many connections. One of them is opened at once.
pub(crate) fn pool<C: Send + 'static>(
    most: u32,
    connect: impl Fn() -> ConnectionResult<C> + Send + Sync + 'static,
) -> Result<Pool<C>, r2d2::Error> {
    r2d2::Pool::builder()
        .max_size(most)
        .min_idle(Some(1))
        .connection_timeout(Deadlines::REQUEST.connection)
        .test_on_check_out(false)
        .event_handler(Box::new(PoolWaits))
        .build(Manager { connect: Box::new(connect) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_whose_rollback_failed_leaves_the_pool() {
        let pool = pool(1, || SqliteConnection::establish(":memory:")).unwrap();
        pool.get().unwrap().control("CREATE TABLE mark (id INTEGER)").unwrap();
        let is_the_same = || pool.get().unwrap().conn.batch_execute("INSERT INTO mark VALUES (1)").is_ok();
        pool.get().unwrap().control("BEGIN; ROLLBACK").unwrap();
        assert!(is_the_same());
        pool.get().unwrap().control("ROLLBACK").unwrap_err(); // nothing is open
        assert!(!is_the_same());
    }
}

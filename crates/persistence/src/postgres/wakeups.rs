//! Notifies the other processes on the same PostgreSQL database when something was queued.
//!
//! The notification is sent after the commit, on a separate connection: NOTIFY inside the transaction would
//! serialize all commits of the cluster. Notifications are sent and received at most once in 50 ms; the last
//! one is never omitted. If a notification is lost with a connection, the scan that every process makes each
//! second replaces it.
//!
//! The same connection counts the processes: each holds a shared advisory lock, and counts the holders.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};

use guerdon_domain::ports::Wakes;

use super::connect::patience;
use super::hosts::Hosts;
use crate::access::Access;
use crate::url::DatabaseUrl;

const NOTIFY_INTERVAL: Duration = Duration::from_millis(50);
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
const LISTEN: &str = "LISTEN guerdon_queued";
const NOTIFY: &str = "NOTIFY guerdon_queued";
const SERVING_COUNT_INTERVAL: Duration = Duration::from_secs(2);
/// Takes the advisory lock of a serving process.
const SERVES: &str = "SELECT pg_advisory_lock_shared(1735746916, 0)";
const SERVING: &str = "(SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 \
     AND classid = 1735746916 AND objid = 0 \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";

/// Notifies other processes until it is dropped.
pub struct Wakeups {
    wakes: Wakes,
    ended: Arc<AtomicBool>,
}

impl Wakeups {
    /// Starts to notify other processes when something is queued here, and to listen to theirs. `None` for
    /// the embedded database, which no other process uses. Fails if the thread cannot be created.
    pub fn share(url: &DatabaseUrl, wakes: &Wakes) -> std::io::Result<Option<Self>> {
        let DatabaseUrl::Postgres(url) = url else { return Ok(None) };
        let shared = Self { wakes: wakes.clone(), ended: Arc::default() };
        let link = Link { hosts: Hosts::of(url), wakes: wakes.clone(), ended: Arc::clone(&shared.ended) };
        std::thread::Builder::new().name("wakeups".into()).spawn(move || while link.hold().is_ok() {})?;
        Ok(Some(shared))
    }

    /// Notifies the serving processes once, for a process that does not serve and ends soon. If the
    /// notification is lost, their scans replace it.
    pub fn tell_once(url: &DatabaseUrl) {
        if let DatabaseUrl::Postgres(url) = url
            && let Ok(mut conn) = Hosts::of(url).connect(patience(Access::Command))
        {
            conn.batch_execute(NOTIFY).unwrap_or_default();
        }
    }
}

impl Drop for Wakeups {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.wakes.elsewhere.wake();
    }
}

/// Notifications have ended.
struct Silenced;

/// The state of the thread.
struct Link {
    hosts: Hosts,
    wakes: Wakes,
    ended: Arc<AtomicBool>,
}

impl Link {
    /// Waits for a notification from this process, for at most this long. Returns whether one came.
    fn news(&self, at_most: Duration) -> Result<bool, Silenced> {
        let is_news = self.wakes.elsewhere.wait(at_most);
        if self.ended.load(Ordering::Acquire) { Err(Silenced) } else { Ok(is_news) }
    }

    /// Notifies and listens on one connection until it breaks.
    fn hold(&self) -> Result<(), Silenced> {
        let opened = self
            .hosts
            .connect(patience(Access::Serve))
            .ok()
            .and_then(|mut conn| Some((join(&mut conn).ok()?, conn)));
        let Some((own, mut conn)) = opened else {
            log::debug!("no connection for waking other processes");
            return self.pause();
        };
        self.wakes.here(); // something may have been queued while the connection was down
        let (mut told_at, mut counted_at): (Option<Instant>, Option<Instant>) = (None, None);
        loop {
            let is_news = self.news(NOTIFY_INTERVAL)?;
            if is_news {
                let wait = told_at.map_or(Duration::ZERO, |at| NOTIFY_INTERVAL.saturating_sub(at.elapsed()));
                std::thread::sleep(wait); // tidy: many commits share one notification
                self.news(Duration::ZERO)?;
                told_at = Some(Instant::now());
            }
            if counted_at.is_none_or(|counted_at| counted_at.elapsed() >= SERVING_COUNT_INTERVAL) {
                let Ok(processes) = serving(&mut conn) else { return Ok(()) };
                self.wakes.processes.counted(usize::try_from(processes).unwrap_or(1));
                counted_at = Some(Instant::now());
            }
            match exchange(&mut conn, own, is_news) {
                Ok(true) => self.wakes.here(),
                Ok(false) => {}
                Err(_broken) => return Ok(()),
            }
        }
    }

    /// Waits before the next connection.
    fn pause(&self) -> Result<(), Silenced> {
        let until = Instant::now() + RECONNECT_INTERVAL;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.news(left)?;
        }
    }
}

/// Starts to listen, and to count as a serving process. Returns the number from [`backend`].
fn join(conn: &mut PgConnection) -> QueryResult<i32> {
    conn.batch_execute(LISTEN)?;
    conn.batch_execute(SERVES)?;
    backend(conn)
}

/// The number of serving processes.
fn serving(conn: &mut PgConnection) -> QueryResult<i64> {
    diesel::select(diesel::dsl::sql::<BigInt>(SERVING)).get_result(conn)
}

/// The server's number for this connection. It identifies the connection's own notifications.
fn backend(conn: &mut PgConnection) -> QueryResult<i32> {
    diesel::select(diesel::dsl::sql::<Integer>("pg_backend_pid()")).get_result(conn)
}

/// Sends a notification if needed. Returns whether other processes sent any.
fn exchange(conn: &mut PgConnection, own: i32, is_news: bool) -> QueryResult<bool> {
    // A statement also reads incoming notifications. Without one, a broken connection would go unnoticed. An
    // empty statement is an error.
    conn.batch_execute(if is_news { NOTIFY } else { "SELECT" })?;
    let mut others = false;
    for notification in conn.notifications_iter() {
        others |= notification?.process_id != own;
    }
    Ok(others)
}

#[cfg(test)]
mod tests {
    use super::super::connect::connect;
    use super::*;
    use crate::testing::each;

    #[test]
    fn a_connection_outlives_quiet_moments_and_hears_of_others() {
        for database in each() {
            let DatabaseUrl::Postgres(url) = database.address() else { continue };
            let [mut ours, mut theirs] = [(); 2].map(|()| connect(&url, patience(Access::Serve)).unwrap());
            let (own, other) = (backend(&mut ours).unwrap(), backend(&mut theirs).unwrap());
            ours.batch_execute(LISTEN).unwrap();
            assert!(!exchange(&mut ours, own, false).unwrap(), "nobody has news");
            assert!(!exchange(&mut ours, own, true).unwrap(), "one's own is none");
            assert!(!exchange(&mut theirs, other, true).unwrap());
            assert!(exchange(&mut ours, own, false).unwrap(), "there is news");
        }
    }

    #[test]
    fn who_serves_is_counted_until_its_connection_ends() {
        for database in each() {
            let DatabaseUrl::Postgres(url) = database.address() else { continue };
            let [mut ours, mut theirs] = [(); 2].map(|()| connect(&url, patience(Access::Serve)).unwrap());
            assert_eq!(serving(&mut ours).unwrap(), 0);
            join(&mut ours).unwrap();
            join(&mut theirs).unwrap();
            assert_eq!(serving(&mut ours).unwrap(), 2);
            theirs.batch_execute("SELECT pg_advisory_unlock_all()").unwrap(); // which closing the connection also does, but later
            assert_eq!(serving(&mut ours).unwrap(), 1);
        }
    }
}

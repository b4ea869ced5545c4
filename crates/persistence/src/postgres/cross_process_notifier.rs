//! Notifies the other processes on the same PostgreSQL database when something was queued.
//!
//! The notification is sent after the commit, on a separate connection: NOTIFY inside the transaction would
//! serialize all commits of the cluster. Notifications are sent and received at most once in 50 ms; the last
//! one is never omitted. If a notification is lost with a connection, the scan that every process makes each
//! second replaces it.
//!
//! The same connection counts the processes: each process holds a shared advisory lock, and counts the
//! holders of that lock.
//!
//! The lock's number and the channel's name contain the oid of the tables' schema, because each schema of a
//! database may belong to a different service.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use guerdon_domain::ports::Notifiers;

use crate::access::Access;
use crate::connect::postgres::connect_timeout_seconds;
use crate::connect::server_list::ServerList;
use crate::url::DatabaseUrl;

const NOTIFY_INTERVAL: Duration = Duration::from_millis(50);
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
/// The start of the channel's name; the oid of the tables' schema follows.
const CHANNEL_PREFIX: &str = "queued_in_schema_";
const SCHEMA_OID: &str = "(SELECT relnamespace::integer FROM pg_class WHERE oid = to_regclass('settings'))";
const SERVING_COUNT_INTERVAL: Duration = Duration::from_secs(2);
/// The class of the advisory locks of serving processes.
const SERVING_LOCKS: i32 = 0x6775_6564;

/// Notifies other processes until it is dropped.
pub struct CrossProcessNotifier {
    notifiers: Notifiers,
    is_stopped: Arc<AtomicBool>,
}

impl CrossProcessNotifier {
    /// Starts to notify other processes when something is queued here, and to listen to theirs. `None` for
    /// the embedded database, which no other process uses. Fails if the thread cannot be created.
    pub fn start_thread(url: &DatabaseUrl, notifiers: &Notifiers) -> std::io::Result<Option<Self>> {
        let DatabaseUrl::Postgres(url) = url else { return Ok(None) };
        let shared = Self { notifiers: notifiers.clone(), is_stopped: Arc::default() };
        let notifier_thread = NotifierThread {
            servers: ServerList::from_url(url),
            notifiers: notifiers.clone(),
            is_stopped: Arc::clone(&shared.is_stopped),
        };
        std::thread::Builder::new()
            .name("wakeups".into())
            .spawn(move || while notifier_thread.serve_connection().is_ok() {})?;
        Ok(Some(shared))
    }

    /// Notifies the serving processes once, for a process that does not serve and ends soon. If the
    /// notification is lost, the periodic scans of the serving processes find the work.
    pub fn notify_once(url: &DatabaseUrl) {
        if let DatabaseUrl::Postgres(url) = url
            && let Ok(mut conn) =
                ServerList::from_url(url).connect_to_any(connect_timeout_seconds(Access::Command))
        {
            notify(&mut conn).unwrap_or_default();
        }
    }
}

impl Drop for CrossProcessNotifier {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Release);
        self.notifiers.other_processes.notify_one();
    }
}

/// The notifier was dropped, so its thread must end.
struct Stopped;

/// The state of the thread.
struct NotifierThread {
    servers: ServerList,
    notifiers: Notifiers,
    is_stopped: Arc<AtomicBool>,
}

impl NotifierThread {
    /// Waits at most `wait_max` for a notification from this process. Returns whether one arrived.
    fn wait_for_local(&self, wait_max: Duration) -> Result<bool, Stopped> {
        let has_queued = self.notifiers.other_processes.wait_timeout(wait_max);
        if self.is_stopped.load(Ordering::Acquire) { Err(Stopped) } else { Ok(has_queued) }
    }

    /// Notifies and listens on one connection until it breaks.
    fn serve_connection(&self) -> Result<(), Stopped> {
        let opened = self
            .servers
            .connect_to_any(connect_timeout_seconds(Access::Serve))
            .ok()
            .and_then(|mut conn| Some((start_listening(&mut conn).ok()?, conn)));
        let Some((own_pid, mut conn)) = opened else {
            log::debug!("no connection to notify other processes");
            return self.wait_to_reconnect();
        };
        self.notifiers.notify_local_senders(); // something may have been queued while the connection was down
        let (mut notified_at, mut counted_at): (Option<Instant>, Option<Instant>) = (None, None);
        loop {
            let has_queued = self.wait_for_local(NOTIFY_INTERVAL)?;
            if has_queued {
                let wait =
                    notified_at.map_or(Duration::ZERO, |at| NOTIFY_INTERVAL.saturating_sub(at.elapsed()));
                std::thread::sleep(wait); // tidy: many commits share one notification
                self.wait_for_local(Duration::ZERO)?;
                notified_at = Some(Instant::now());
            }
            if counted_at.is_none_or(|counted_at| counted_at.elapsed() >= SERVING_COUNT_INTERVAL) {
                let Ok(processes) = count_serving(&mut conn) else { return Ok(()) };
                self.notifiers.processes.set(usize::try_from(processes).unwrap_or(1));
                counted_at = Some(Instant::now());
            }
            match exchange_notifications(&mut conn, own_pid, has_queued) {
                Ok(true) => self.notifiers.notify_local_senders(),
                Ok(false) => {}
                Err(_broken) => return Ok(()),
            }
        }
    }

    /// Waits before the next connection.
    fn wait_to_reconnect(&self) -> Result<(), Stopped> {
        let until = Instant::now() + RECONNECT_INTERVAL;
        loop {
            let time_left = until.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                return Ok(());
            }
            self.wait_for_local(time_left)?;
        }
    }
}

/// Starts to listen, and to count as a serving process. Returns the number from [`backend_pid`].
fn start_listening(conn: &mut PgConnection) -> QueryResult<i32> {
    let schema: i32 = diesel::select(diesel::dsl::sql::<Integer>(SCHEMA_OID)).get_result(conn)?;
    conn.batch_execute(&format!(
        "LISTEN {CHANNEL_PREFIX}{schema}; SELECT pg_advisory_lock_shared({SERVING_LOCKS}, {schema})"
    ))?;
    backend_pid(conn)
}

/// The number of serving processes.
fn count_serving(conn: &mut PgConnection) -> QueryResult<i64> {
    let count = format!(
        "(SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 \
         AND classid = {SERVING_LOCKS} AND objid = {SCHEMA_OID}::oid \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
    );
    diesel::select(diesel::dsl::sql::<BigInt>(&count)).get_result(conn)
}

fn notify(conn: &mut PgConnection) -> QueryResult<()> {
    conn.batch_execute(&format!("SELECT pg_notify('{CHANNEL_PREFIX}' || {SCHEMA_OID}, '')"))
}

/// The server's number for this connection. It identifies the connection's own notifications.
fn backend_pid(conn: &mut PgConnection) -> QueryResult<i32> {
    diesel::select(diesel::dsl::sql::<Integer>("pg_backend_pid()")).get_result(conn)
}

/// Sends a notification if needed. Returns whether other processes sent any.
fn exchange_notifications(conn: &mut PgConnection, own_pid: i32, has_queued: bool) -> QueryResult<bool> {
    // A statement also reads incoming notifications. Without one, a broken connection would go unnoticed. An
    // empty statement is an error.
    if has_queued {
        notify(conn)?;
    } else {
        conn.batch_execute("SELECT")?;
    }
    let mut has_foreign = false;
    for notification in conn.notifications_iter() {
        has_foreign |= notification?.process_id != own_pid;
    }
    Ok(has_foreign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::postgres::connect_to_server;
    use crate::testing::postgres_if_covered;

    #[test]
    fn notifications_of_other_connections_are_received() {
        if let Some(database) = postgres_if_covered() {
            let DatabaseUrl::Postgres(url) = database.database_url() else { unreachable!() };
            let [mut first, mut second] =
                [(); 2].map(|()| connect_to_server(&url, connect_timeout_seconds(Access::Serve)).unwrap());
            let (own_pid, other) = (start_listening(&mut first).unwrap(), backend_pid(&mut second).unwrap());
            assert!(!exchange_notifications(&mut first, own_pid, false).unwrap(), "no notification was sent");
            assert!(!exchange_notifications(&mut first, own_pid, true).unwrap(), "its own is ignored");
            assert!(!exchange_notifications(&mut second, other, true).unwrap());
            assert!(exchange_notifications(&mut first, own_pid, false).unwrap(), "a notification was sent");
        }
    }

    #[test]
    fn serving_processes_are_counted_until_they_disconnect() {
        if let Some(database) = postgres_if_covered() {
            let DatabaseUrl::Postgres(url) = database.database_url() else { unreachable!() };
            let [mut first, mut second] =
                [(); 2].map(|()| connect_to_server(&url, connect_timeout_seconds(Access::Serve)).unwrap());
            assert_eq!(count_serving(&mut first).unwrap(), 0);
            start_listening(&mut first).unwrap();
            start_listening(&mut second).unwrap();
            assert_eq!(count_serving(&mut first).unwrap(), 2);
            second.batch_execute("SELECT pg_advisory_unlock_all()").unwrap(); // which closing the connection also does, but later
            assert_eq!(count_serving(&mut first).unwrap(), 1);
        }
    }
}

//! Waking the other processes on one PostgreSQL when something was queued.
//!
//! The news goes out after the commit, on a connection of its own: NOTIFY within the transaction would serialize all
//! commits of the cluster. It is sent at most once in 50 ms, the last included, and looked for as often. News that
//! is lost with a connection is made good by everybody's scan each second.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Integer;

use super::connect::{connect, patience};
use crate::access::Access;
use crate::url::DatabaseUrl;

const EVERY: Duration = Duration::from_millis(50);
const RECONNECT_EVERY: Duration = Duration::from_secs(1);
const LISTEN: &str = "LISTEN guerdon_queued";
const NOTIFY: &str = "NOTIFY guerdon_queued";

/// News to the other processes; they are told until this is dropped.
pub struct Wakeups(Sender<()>);

impl Wakeups {
    /// Begins to tell and to listen; `wake` is called for the news of others. None for the embedded database, which
    /// has no others. An error where no thread could be made.
    pub fn share(url: &DatabaseUrl, wake: impl Fn() + Send + 'static) -> std::io::Result<Option<Self>> {
        let DatabaseUrl::Postgres(url) = url else { return Ok(None) };
        let (sender, receiver) = channel();
        let url = url.clone();
        std::thread::Builder::new()
            .name("wakeups".into())
            .spawn(move || while link(&url, &receiver, &wake).is_ok() {})?;
        Ok(Some(Self(sender)))
    }

    /// Tells the processes that serve, for one that does not and ends soon. Whoever is not told finds out by itself.
    pub fn tell_once(url: &DatabaseUrl) {
        if let DatabaseUrl::Postgres(url) = url
            && let Ok(mut conn) = connect(url, patience(Access::Command))
        {
            conn.batch_execute(NOTIFY).unwrap_or_default();
        }
    }

    /// Tells the others that something was queued. Does not wait.
    pub fn tell(&self) {
        self.0.send(()).unwrap_or_default(); // the thread ends with this value only
    }
}

/// Nobody will tell any more.
struct Ended;

/// Tells and listens on one connection until it breaks.
fn link(url: &str, news: &Receiver<()>, wake: &impl Fn()) -> Result<(), Ended> {
    let opened = connect(url, patience(Access::Serve))
        .ok()
        .and_then(|mut conn| conn.batch_execute(LISTEN).ok().map(|()| conn));
    let own = opened.and_then(|mut conn| Some((backend(&mut conn).ok()?, conn)));
    let Some((own, mut conn)) = own else {
        log::debug!("no connection for waking other processes");
        return pause(news);
    };
    wake(); // what came while nobody listened
    let mut told_at: Option<Instant> = None;
    loop {
        let is_news = match news.recv_timeout(EVERY) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return Err(Ended),
        };
        if is_news {
            let wait = told_at.map_or(Duration::ZERO, |it| EVERY.saturating_sub(it.elapsed()));
            std::thread::sleep(wait); // tidy: many commits share one notification
            while news.try_recv().is_ok() {}
            told_at = Some(Instant::now());
        }
        match exchange(&mut conn, own, is_news) {
            Ok(true) => wake(),
            Ok(false) => {}
            Err(_broken) => return Ok(()),
        }
    }
}

/// The server's number for this connection, by which its own news is known.
fn backend(conn: &mut PgConnection) -> QueryResult<i32> {
    diesel::select(diesel::dsl::sql::<Integer>("pg_backend_pid()")).get_result(conn)
}

/// Tells the news, and whether others had any.
fn exchange(conn: &mut PgConnection, own: i32, is_news: bool) -> QueryResult<bool> {
    // A statement also reads what has come in; without one a broken connection would go unnoticed.
    conn.batch_execute(if is_news { NOTIFY } else { "" })?;
    let mut others = false;
    for notification in conn.notifications_iter() {
        others |= notification?.process_id != own;
    }
    Ok(others)
}

/// Waits before the next connection.
fn pause(news: &Receiver<()>) -> Result<(), Ended> {
    let until = Instant::now() + RECONNECT_EVERY;
    loop {
        match news.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(Ended),
        }
    }
}

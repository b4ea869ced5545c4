//! The store over a pool of PostgreSQL connections: one transaction a unit, run again when it lost a race.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use guerdon_domain::ports::{Reads, Store, StoreError, Tx, Verdict};

use crate::backoff;
use crate::postgres::{classify, connect, repo::Unit};
use crate::watch::Watcher;

/// A connection, and whether something failed on it that a rollback did not mend.
pub(crate) struct Link {
    conn: PgConnection,
    broken: bool,
}

/// Makes connections for the pool.
pub(crate) struct Manager {
    url: String,
    patience: u32,
}

impl Manager {
    pub(crate) fn new(url: &str, patience: u32) -> Self {
        Self { url: url.to_owned(), patience }
    }
}

impl r2d2::ManageConnection for Manager {
    type Connection = Link;
    type Error = ConnectionError;

    fn connect(&self) -> Result<Link, ConnectionError> {
        connect(&self.url, self.patience).map(|conn| Link { conn, broken: false })
    }

    fn is_valid(&self, _link: &mut Link) -> Result<(), ConnectionError> {
        Ok(()) // a dead connection shows at its BEGIN, where it is replaced
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        link.broken
    }
}

pub(crate) struct Pooled {
    pool: r2d2::Pool<Manager>,
    connections: u32,
    watcher: Watcher,
}

/// How a unit ended.
enum Ended {
    Done,
    LostRace,
    Failed(StoreError),
    Panicked(Box<dyn std::any::Any + Send>),
}

impl Pooled {
    pub(crate) fn new(pool: r2d2::Pool<Manager>, connections: u32, watcher: Watcher) -> Self {
        Self { pool, connections, watcher }
    }

    /// A connection with a transaction begun. After the server was away every idle connection is dead: each is
    /// found out here, before anything happened on it, and dropped.
    fn begin(&self, sql: &str) -> Result<r2d2::PooledConnection<Manager>, StoreError> {
        let mut last = StoreError::Contended;
        for _ in 0..=self.connections {
            let mut link = self.pool.get().map_err(|e| StoreError::Unavailable(e.to_string()))?;
            match link.conn.batch_execute(sql) {
                Ok(()) => return Ok(link),
                Err(e) => {
                    link.broken = true;
                    last = classify(&e);
                }
            }
        }
        Err(last)
    }

    fn attempt(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<Ended, StoreError> {
        let mut link = self.begin("BEGIN ISOLATION LEVEL READ COMMITTED")?;
        let mut unit = Unit::new(&mut link.conn);
        let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let (fault, queued) = unit.end();
        if matches!(verdict, Ok(Verdict::Commit)) && fault.is_none() {
            let ended = commit(&mut link);
            if matches!(ended, Ended::Done) {
                drop(link); // free for another before anybody is told
                self.watcher.tell(queued);
            }
            return Ok(ended);
        }
        rollback(&mut link);
        Ok(match (verdict, fault) {
            (Err(panic), _) => Ended::Panicked(panic),
            (Ok(_), Some(StoreError::Contended)) => Ended::LostRace,
            (Ok(_), Some(fault)) => Ended::Failed(fault),
            (Ok(_), None) => Ended::Done,
        })
    }
}

fn commit(link: &mut Link) -> Ended {
    match link.conn.batch_execute("COMMIT") {
        Ok(()) => Ended::Done,
        Err(e) => {
            link.broken = true;
            match classify(&e) {
                StoreError::Contended => Ended::LostRace,
                // The answer was lost, not necessarily the commit: never run again.
                fault => Ended::Failed(StoreError::Unavailable(fault.to_string())),
            }
        }
    }
}

fn rollback(link: &mut Link) {
    if link.conn.batch_execute("ROLLBACK").is_err() {
        link.broken = true;
    }
}

impl Store for Pooled {
    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        for tries in 0..backoff::TRIES {
            match self.attempt(work)? {
                Ended::Done => return Ok(()),
                Ended::Failed(fault) => return Err(fault),
                Ended::Panicked(panic) => resume_unwind(panic),
                Ended::LostRace => backoff::pause(tries),
            }
        }
        Err(StoreError::Contended)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        let mut link = self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let mut unit = Unit::new(&mut link.conn);
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
        let (fault, _) = unit.end();
        rollback(&mut link);
        match done {
            Err(panic) => resume_unwind(panic),
            Ok(()) => fault.map_or(Ok(()), Err),
        }
    }
}

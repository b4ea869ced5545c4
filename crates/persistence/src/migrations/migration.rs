//! One migration, and how long its steps wait for locks.

use std::time::Duration;

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};

use crate::access::OpenError;

/// A migration: its name `NNNN_name`, and the content of its `up.sql`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

impl Migration {
    /// The version consists of the digits before the first `_` of the name. It orders and identifies
    /// migrations.
    pub const fn new(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql }
    }

    pub(super) fn version(&self) -> &'static str {
        self.name.split('_').next().unwrap_or(self.name)
    }

    pub(super) fn checksum(&self) -> String {
        HEXLOWER.encode(digest(&SHA256, self.sql.as_bytes()).as_ref())
    }

    /// An error that names this migration and its cause.
    pub(super) fn failed_because(&self, cause: &dyn std::fmt::Display) -> OpenError {
        OpenError::failed_because(&format!("migration {}", self.name), cause)
    }
}

/// How long the steps of a migration wait for locks, and how often they retry. Only PostgreSQL needs this.
#[derive(Debug, Clone, Copy)]
pub struct LockRetryPolicy {
    /// The timeout for one lock. Requests that need the table queue for at most 2 s, and a step may need
    /// three locks.
    pub lock_timeout: Duration,
    /// The pause after the first attempt. It doubles up to ten times this value, so that requests get most of
    /// the time.
    pub initial_pause: Duration,
    /// After this time, a step that did not get its locks fails.
    pub total_time: Duration,
}

impl Default for LockRetryPolicy {
    fn default() -> Self {
        Self {
            lock_timeout: Duration::from_millis(500),
            initial_pause: Duration::from_millis(500),
            total_time: Duration::from_secs(600),
        }
    }
}

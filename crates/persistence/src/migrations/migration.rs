//! One migration, and how patient its steps are.

use std::time::Duration;

use ring::digest::{SHA256, digest};

use crate::access::OpenError;

/// A migration: `NNNN_name`, and the text of its `up.sql`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub(super) name: &'static str,
    pub(super) sql: &'static str,
}

impl Migration {
    /// The digits before the first `_` of the name are the version, by which migrations are ordered and known.
    pub const fn new(name: &'static str, sql: &'static str) -> Self {
        Self { name, sql }
    }

    pub(super) fn version(&self) -> &'static str {
        self.name.split('_').next().unwrap_or(self.name)
    }

    pub(super) fn checksum(&self) -> String {
        digest(&SHA256, self.sql.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What is wrong with it, as an error that names it.
    pub(super) fn failed(&self, cause: &dyn std::fmt::Display) -> OpenError {
        OpenError::failed(&format!("migration {}", self.name), cause)
    }
}

/// How long a migration stands in line for a lock, and how long it keeps trying; PostgreSQL alone.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The wait for one lock. Requests that need the table wait behind it, for at most 2 s: a step may meet three.
    pub lock: Duration,
    /// The pause after the first attempt; it doubles up to ten times as much, so that requests have most of the time.
    pub pause: Duration,
    /// When a step that never got its locks is given up.
    pub in_all: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            lock: Duration::from_millis(500),
            pause: Duration::from_millis(500),
            in_all: Duration::from_secs(600),
        }
    }
}

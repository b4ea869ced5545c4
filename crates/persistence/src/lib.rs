//! # guerdon-persistence
//!
//! The domain's ports on diesel, for an embedded SQLite and for PostgreSQL.
//!
//! * `repo/` holds the repositories, a file for each kind of thing that the ports speak of. They are written once against
//!   `super::Conn` and compiled twice, by `sqlite.rs` and by `postgres.rs`, which hold what only one of the two can
//!   say, under the same names.
//! * `group_commit.rs` is the store over one SQLite writer: units of work that meet share one commit.
//! * `pooled.rs` is the store over pools of PostgreSQL connections: one transaction a unit. `terms.rs` holds each unit
//!   to its time, and `gate.rs` lets few at a time go after one account, so that nobody takes the connections of all.
//! * `migrations/` runs the schema's migrations beside whoever is at work, and says whether a program and a schema go
//!   together. Its first page says how a migration is written.
//! * `schema.rs`, `types.rs` and `rows/` are the tables, the SQL types and the rows that both share.
//!
//! **Invariants.** Nothing outside this crate names a connection. Rows never leave it. Balances change in
//! `repo/post.rs` and `repo/accounts.rs` alone, always with the transfer that says why, in the lock order of
//! `AccountKind`. A taken unique key is an answer (`on_conflict_do_nothing`), never a caught error. Whoever
//! is about to lock accounts asks for a place with them first (`Unit::enter`).
//!
//! To add a port: a file in `repo/`, its rows in `rows/`, its table in `schema.rs` and in a migration on both sides.

#![expect(clippy::duplicate_mod, reason = "repo/ is compiled once for each database")]

mod access;
mod catalog;
mod migrations;
mod open;
mod pool;
mod postgres;
mod rows;
mod sqlite;
#[cfg(feature = "testing")]
pub mod testing;
mod url;
mod watch;

pub use access::{Access, OpenError, Opened};
pub use open::{migrate, open, open_watched};
pub use postgres::wakeups::Wakeups;
pub use url::DatabaseUrl;
pub use watch::{Queued, Watcher};

#![doc = include_str!("../README.md")]
#![expect(clippy::duplicate_mod, reason = "repo/ is compiled once for each database")]

mod backoff;
mod catalog;
mod checkpoints;
mod gate;
mod group_commit;
mod link;
mod many_transfers;
mod migrations;
mod open;
mod pooled;
mod postgres;
mod rows;
mod schema;
mod seals;
mod sqlite;
mod sqlite_storage;
mod terms;
#[cfg(feature = "testing")]
pub mod testing;
mod types;
mod url;
mod waits;
mod wakeups;
mod watch;

pub use open::{Access, OpenError, Opened, migrate, open, open_watched};
pub use url::DatabaseUrl;
pub use wakeups::Wakeups;
pub use watch::{Queued, Watcher};

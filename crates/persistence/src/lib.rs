#![doc = include_str!("../README.md")]
#![expect(clippy::duplicate_mod, reason = "repo/ is compiled once for each database")]

mod access;
mod connect;
mod engine;
mod event_partitions;
mod failpoint;
mod migrations;
mod open;
mod pool;
mod postgres;
mod queued_messages;
mod rows;
mod schema_objects;
mod sqlite;
mod statement;
mod statement_chunks;
#[cfg(feature = "testing")]
pub mod testing;
mod url;
mod write_form;

pub use access::{Access, OpenDatabase, OpenError};
pub use open::{migrate, open, open_with_notifiers, read_stored_setting};
pub use postgres::cross_process_notifier::CrossProcessNotifier;
pub use sqlite::backup_copy::copy_sqlite;
pub use url::DatabaseUrl;

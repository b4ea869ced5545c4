#![doc = include_str!("../README.md")]
#![expect(clippy::duplicate_mod, reason = "repo/ is compiled once for each database")]

mod access;
mod catalog;
mod engine;
mod migrations;
mod open;
mod pool;
mod postgres;
mod queued;
mod rows;
mod slices;
mod sqlite;
mod statement;
#[cfg(feature = "testing")]
pub mod testing;
mod url;

pub use access::{Access, OpenError, Opened};
pub use open::{kept_setting, migrate, open, open_waking};
pub use postgres::wakeups::Wakeups;
pub use sqlite::copy::copy_sqlite;
pub use url::DatabaseUrl;

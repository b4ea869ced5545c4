//! Opens single connections to PostgreSQL and to SQLite files, for pools, migrations and backups.

pub(crate) mod postgres;
pub(crate) mod server_list;
pub(crate) mod session_check;
pub(crate) mod sqlite;

//! Opening and migrating a database.

use std::sync::Arc;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Notifiers, Setting, Store};

use crate::access::{Access, OpenDatabase, OpenError};
use crate::connect::postgres::connect_timeout_seconds;
use crate::connect::server_list::ServerList;
use crate::migrations::{self, LockRetryPolicy};
use crate::postgres::pooled_store::StoreLimits;
use crate::url::DatabaseUrl;
use crate::{postgres, sqlite};

/// Creates the database if it does not exist and applies the missing migrations. Returns their names. Any
/// number of processes may call this concurrently. On PostgreSQL, other processes may use the database at the
/// same time; an embedded database that is in use is refused as locked.
pub fn migrate(url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
    migrations::apply_migrations(url, migrations::migrations_for(url), LockRetryPolicy::default())
}

/// Opens a migrated database, for requests or a command. An embedded database is locked until the store is
/// dropped.
pub fn open(url: &DatabaseUrl, access: Access) -> Result<Arc<dyn Store>, OpenError> {
    open_with_notifiers(url, access, Notifiers::default()).map(|opened| opened.requests)
}

/// Opens a migrated database for requests, commands and background jobs. Queued events and notifications are
/// signalled to `notifiers`.
pub fn open_with_notifiers(
    url: &DatabaseUrl,
    access: Access,
    notifiers: Notifiers,
) -> Result<OpenDatabase, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::open::open_sqlite(path, access, notifiers),
        DatabaseUrl::Postgres(url) => {
            postgres::open::open_postgres(url, access, &StoreLimits::default(), notifiers)
        }
    }
}

/// Reads a setting without checking the version of the database or changing anything in it. `None` if the
/// setting has no value or cannot be read.
pub fn read_stored_setting(url: &DatabaseUrl, setting: Setting) -> Option<String> {
    let query = sql::<Text>("SELECT value FROM settings WHERE name = ").bind::<Text, _>(setting.name());
    let found = match url {
        DatabaseUrl::Sqlite(path) => {
            let mut conn = crate::connect::sqlite::connect_to_file(path).ok()?;
            query.get_result(&mut conn)
        }
        DatabaseUrl::Postgres(url) => {
            let mut conn =
                ServerList::from_url(url).connect_to_any(connect_timeout_seconds(Access::Command)).ok()?;
            query.get_result(&mut conn)
        }
    };
    found.ok()
}

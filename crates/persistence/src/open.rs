//! Opening and migrating a database.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::Text;
use guerdon_domain::ports::{Setting, Store, Wakes};

use crate::access::{Access, OpenError, Opened};
use crate::migrations::{self, Patience};
use crate::postgres::connect::patience;
use crate::postgres::hosts::Hosts;
use crate::url::DatabaseUrl;
use crate::{postgres, sqlite};

/// Creates the database if it does not exist and applies the missing migrations. Returns their names. Any
/// number of processes may call this concurrently. On PostgreSQL other processes may use the database
/// meanwhile; an embedded database that is open is refused as locked.
pub fn migrate(url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
    migrations::migrate(url, migrations::known(url), Patience::default())
}

/// Opens a migrated database, for requests or a command. An embedded database is locked until the store is
/// dropped.
pub fn open(url: &DatabaseUrl, access: Access) -> Result<Arc<dyn Store>, OpenError> {
    open_waking(url, access, Wakes::default()).map(|opened| opened.requests)
}

/// Opens a migrated database for requests, commands and background jobs. `wakes` is notified of queued events
/// and mails.
pub fn open_waking(url: &DatabaseUrl, access: Access, wakes: Wakes) -> Result<Opened, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::open::open(path, access, wakes),
        DatabaseUrl::Postgres(url) => postgres::open::open(url, access, wakes),
    }
}

/// The value of a setting, whatever the version of the database, before anything in it is changed. `None` if
/// the setting has no value or cannot be read.
pub fn kept_setting(url: &DatabaseUrl, setting: Setting) -> Option<String> {
    const QUERY: &str = "SELECT value FROM settings WHERE name = ";
    let found: QueryResult<Kept> = match url {
        DatabaseUrl::Sqlite(path) => {
            let mut conn = sqlite::connect::connect(path).ok()?;
            sql_query(format!("{QUERY}?")).bind::<Text, _>(setting.name()).get_result(&mut conn)
        }
        DatabaseUrl::Postgres(url) => {
            let mut conn = Hosts::of(url).connect(patience(Access::Command)).ok()?;
            sql_query(format!("{QUERY}$1")).bind::<Text, _>(setting.name()).get_result(&mut conn)
        }
    };
    found.ok().map(|kept| kept.value)
}

#[derive(QueryableByName)]
struct Kept {
    #[diesel(sql_type = Text)]
    value: String,
}

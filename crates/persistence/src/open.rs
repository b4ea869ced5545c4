//! Opening and migrating a database.

use std::sync::Arc;

use guerdon_domain::ports::{Store, Wakes};

use crate::access::{Access, OpenError, Opened};
use crate::migrations::{self, Patience};
use crate::url::DatabaseUrl;
use crate::{postgres, sqlite};

/// Makes the database where it is missing and applies the migrations it lacks; answers their names. Any number of
/// processes may do so at once. On PostgreSQL others may be at work meanwhile; an embedded database that is open is
/// refused as locked.
pub fn migrate(url: &DatabaseUrl) -> Result<Vec<String>, OpenError> {
    migrations::migrate(url, migrations::known(url), Patience::default())
}

/// Opens a migrated database, for requests or a command. An embedded one is locked until the store is dropped.
pub fn open(url: &DatabaseUrl, access: Access) -> Result<Arc<dyn Store>, OpenError> {
    open_waking(url, access, Wakes::default()).map(|it| it.requests)
}

/// The same with both ways in; `wakes` is rung for what is queued for sending.
pub fn open_waking(url: &DatabaseUrl, access: Access, wakes: Wakes) -> Result<Opened, OpenError> {
    match url {
        DatabaseUrl::Sqlite(path) => sqlite::open::open(path, access, wakes),
        DatabaseUrl::Postgres(url) => postgres::open::open(url, access, wakes),
    }
}

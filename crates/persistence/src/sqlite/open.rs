//! Opening the embedded database.

use std::path::Path;
use std::sync::Arc;

use guerdon_domain::ports::{Deadlines, Notifiers, Store};

use super::checkpoint_thread::CheckpointThread;
use super::group_commit::{GroupCommit, SqliteStore};
use crate::access::{Access, COMMAND_CONNECTIONS, OpenDatabase, OpenError, thread_error};
use crate::connect::sqlite::{
    connect_reader, connect_to_file, lock_database, prepare_writer, require_file, require_version, sync_log,
};
use crate::engine::Engine;
use crate::migrations::check_sqlite;
use crate::pool::create_pool;

const READER_CONNECTIONS: u32 = 16;
/// The number of readers for background jobs.
const BACKGROUND_READERS: u32 = 3;
/// The page cache of each reader in KiB. The cache of a command is larger, because a command reads more.
const READER_CACHE_KIB: u32 = 2_000;
const COMMAND_CACHE_KIB: u32 = 16_000;

pub(crate) fn open_sqlite(
    path: &Path,
    access: Access,
    notifiers: Notifiers,
) -> Result<OpenDatabase, OpenError> {
    require_file(path)?;
    let lock = lock_database(path)?;
    sync_log(path)?;
    let mut writer = connect_to_file(path)?;
    prepare_writer(&mut writer, 5_000).map_err(|e| preparation_error(&e))?;
    require_version(&mut writer)?;
    check_sqlite(&mut writer)?;
    let name = path.to_string_lossy().into_owned();
    let readers = |connections_max| {
        let (name, cached) =
            (name.clone(), if access == Access::Command { COMMAND_CACHE_KIB } else { READER_CACHE_KIB });
        create_pool(connections_max, 1, move || connect_reader(&name, cached))
            .map_err(|e| OpenError::failed_because("cannot open the database for reading", &e))
    };
    if access == Access::Command {
        let readers = readers(COMMAND_CONNECTIONS)?;
        let group = Arc::new(GroupCommit::new(writer, lock, notifiers));
        let store = Arc::new(SqliteStore::new(&group, readers, None));
        let commands = Arc::new(Engine::start_workers(group, 1, 0).map_err(|e| thread_error(&e))?);
        let store: Arc<dyn Store> = store;
        let [requests, health] = [Arc::clone(&store), Arc::clone(&store)];
        return Ok(OpenDatabase { requests, commands, background: store, health });
    }
    let mut checkpoint_conn = connect_to_file(path)?;
    prepare_writer(&mut checkpoint_conn, 0).map_err(|e| preparation_error(&e))?;
    let checkpoints = CheckpointThread::start_thread(checkpoint_conn).map_err(|e| thread_error(&e))?;
    let (request_readers, background_readers) = (readers(READER_CONNECTIONS)?, readers(BACKGROUND_READERS)?);
    let group = GroupCommit::new(writer, lock, notifiers).with_checkpoints(checkpoints);
    let group = Arc::new(group.map_err(|e| preparation_error(&e))?);
    let requests = SqliteStore::new(&group, request_readers, Some(Deadlines::COMMIT));
    let background = SqliteStore::new(&group, background_readers, None);
    let health = SqliteStore::new(&group, readers(1)?, None);
    let commands = Arc::new(Engine::start_workers(group, 1, 0).map_err(|e| thread_error(&e))?);
    Ok(OpenDatabase {
        requests: Arc::new(requests),
        commands,
        background: Arc::new(background),
        health: Arc::new(health),
    })
}

/// If the files next to the database cannot be created, SQLite's error mentions only the disk.
fn preparation_error(cause: &dyn std::fmt::Display) -> OpenError {
    let text = cause.to_string();
    let hint = if text.contains("disk I/O error") { " (is its disk full?)" } else { "" };
    OpenError::failed_because(&format!("cannot prepare the database{hint}"), &text)
}

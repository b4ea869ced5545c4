//! Opening the embedded database.

use std::path::Path;
use std::sync::Arc;

use guerdon_domain::ports::Wakes;

use super::checkpoints::Checkpoints;
use super::connect::{assert_version, connect, connect_reader, lock, prepare_writer, require};
use super::group_commit::{Beside, GroupCommit};
use crate::access::{Access, CONNECTIONS_OF_A_COMMAND, OpenError, Opened};
use crate::engine::Engine;
use crate::migrations::check_sqlite;
use crate::pool::pool;

const READERS: u32 = 8;
/// The number of readers for background jobs.
const READERS_BESIDE: u32 = 3;
/// The page cache of each reader in KiB. A command reads more at once.
const CACHED: u32 = 2_000;
const CACHED_BY_A_COMMAND: u32 = 16_000;

pub(crate) fn open(path: &Path, access: Access, wakes: Wakes) -> Result<Opened, OpenError> {
    require(path)?;
    let lock = lock(path)?;
    let mut writer = connect(path)?;
    prepare_writer(&mut writer, 5_000).map_err(|e| unprepared(&e))?;
    assert_version(&mut writer)?;
    check_sqlite(&mut writer)?;
    let name = path.to_string_lossy().into_owned();
    let readers = |most| {
        let (name, cached) =
            (name.clone(), if access == Access::Command { CACHED_BY_A_COMMAND } else { CACHED });
        pool(most, move || connect_reader(&name, cached))
            .map_err(|e| OpenError::failed("cannot open the database for reading", &e))
    };
    if access == Access::Command {
        let store = Arc::new(GroupCommit::new(writer, readers(CONNECTIONS_OF_A_COMMAND)?, lock, wakes));
        let commands = Arc::new(Engine::start(Arc::clone(&store), 1, 0).map_err(|e| no_thread(&e))?);
        return Ok(Opened { requests: Arc::<GroupCommit>::clone(&store), commands, background: store });
    }
    let mut beside = connect(path)?;
    prepare_writer(&mut beside, 0).map_err(|e| unprepared(&e))?;
    let checkpoints =
        Checkpoints::begin(beside).map_err(|e| OpenError::failed("cannot start a thread", &e))?;
    let store = GroupCommit::new(writer, readers(READERS)?, lock, wakes);
    let store = store.for_requests(checkpoints);
    let store = Arc::new(store.map_err(|e| unprepared(&e))?);
    let background = Beside { store: Arc::clone(&store), readers: readers(READERS_BESIDE)? };
    let commands = Arc::new(Engine::start(Arc::clone(&store), 1, 0).map_err(|e| no_thread(&e))?);
    Ok(Opened { requests: store, commands, background: Arc::new(background) })
}

fn no_thread(cause: &std::io::Error) -> OpenError {
    OpenError::failed("cannot start a thread", cause)
}

/// If the files next to the database cannot be created, SQLite's error mentions only the disk.
fn unprepared(cause: &dyn std::fmt::Display) -> OpenError {
    let text = cause.to_string();
    let hint = if text.contains("disk I/O error") { " (is its disk full?)" } else { "" };
    OpenError::failed(&format!("cannot prepare the database{hint}"), &text)
}

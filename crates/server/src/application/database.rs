//! The database at the start of the service: made, migrated, opened.

use std::path::Path;
use std::thread::sleep; // tidy: a command, another process, holds the database for a moment
use std::time::Duration;

use guerdon_persistence::{Access, OpenError, Opened, Watcher, migrate, open_watched};

use crate::handover::is_served;
use crate::settings::Settings;
use crate::world::files;

/// How often the start looks again at a database that a command holds.
const ATTEMPTS: u32 = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// Opens the database for the service; makes it and applies the migrations it lacks, but never under a process that
/// has it open. One that another `serve` holds is refused at once; a command that holds it is waited for.
pub(super) fn open_for_service(settings: &Settings, watcher: &Watcher) -> anyhow::Result<Opened> {
    prepare_folders(settings)?;
    let access = if settings.allow_unsafe_postgres { Access::Rehearse } else { Access::Serve };
    let mut attempts = ATTEMPTS;
    loop {
        attempts -= 1;
        match open_watched(&settings.database, access, watcher.clone()) {
            Ok(opened) => return Ok(opened),
            Err(OpenError::Missing(_) | OpenError::Older) if attempts > 0 => {
                let applied = migrate(&settings.database)?;
                if !applied.is_empty() {
                    log::info!("applied the migrations {}", applied.join(", "));
                }
            }
            Err(OpenError::Locked(_)) if attempts > 0 && !is_served(&settings.data_dir) => {
                sleep(BETWEEN_ATTEMPTS)
            }
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// Makes the data folder, and the embedded database's files, so that only their owner can read them.
pub(crate) fn prepare_folders(settings: &Settings) -> anyhow::Result<()> {
    files::ensure_private_folder(&settings.data_dir)?;
    let Some(database) = settings.embedded_database() else { return Ok(()) };
    if let Some(folder) = database.parent().filter(|it| !it.as_os_str().is_empty()) {
        files::ensure_private_folder(folder)?;
    }
    let mut lock = database.as_os_str().to_owned();
    lock.push(".lock");
    files::ensure_private_file(Path::new(&lock))?;
    files::ensure_private_file(database)
}

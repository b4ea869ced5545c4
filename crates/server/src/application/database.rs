//! Creates, migrates and opens the database when the service starts.

use std::thread::sleep; // tidy: a command in another process may hold the database briefly
use std::time::Duration;

use anyhow::Context as _;
use guerdon_domain::ports::{Notifiers, Setting};
use guerdon_persistence::{
    Access, OpenDatabase, OpenError, migrate, open_with_notifiers, read_stored_setting,
};

use crate::command_socket::is_service_listening;
use crate::keys::require_matching_master_key;
use crate::platform::files;
use crate::settings::Settings;

/// How many times a starting service tries to open the database while a command holds it.
const OPEN_ATTEMPTS_MAX: u32 = 20;
const OPEN_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Opens the database for the service. Creates it and applies pending migrations if `database.migrate` allows it, but
/// never while another process has the embedded database open. If another `serve` has it open, fails at once; if a
/// command has it open, retries for two seconds, then fails.
pub(super) fn open_for_service(settings: &Settings, notifiers: &Notifiers) -> anyhow::Result<OpenDatabase> {
    if let Some(database) = settings.embedded_database().filter(|_| !settings.migrate)
        && !database.try_exists().with_context(|| format!("cannot access {}", database.display()))?
    {
        return Err(OpenError::no_file(database)).context("database.migrate is false");
    }
    if settings.embedded_database().is_some() {
        prepare_folders(settings)?;
    }
    let access = if settings.allow_unsafe_postgres { Access::ServeWithoutDurability } else { Access::Serve };
    let mut attempts = OPEN_ATTEMPTS_MAX;
    loop {
        attempts -= 1;
        let refused = match open_with_notifiers(&settings.database, access, notifiers.clone()) {
            Ok(opened) => return prepare_folders(settings).map(|()| opened),
            Err(cause @ (OpenError::Missing(_) | OpenError::Older | OpenError::Restored))
                if !settings.migrate =>
            {
                return Err(anyhow::Error::from(cause).context("database.migrate is false"));
            }
            Err(OpenError::Missing(_) | OpenError::Older | OpenError::Restored) if attempts > 0 => {
                let stored = read_stored_setting(&settings.database, Setting::MasterKeyFingerprint);
                require_matching_master_key(settings, stored.as_deref())?; // before migrations change the database
                migrate(&settings.database).map(|applied| log_migrations(&applied)).err()
            }
            Err(cause) => Some(cause),
        };
        match refused {
            None => {}
            Some(OpenError::Locked(_)) if attempts > 0 && !is_service_listening(&settings.data_dir) => {
                sleep(OPEN_RETRY_INTERVAL);
            }
            Some(cause) => return Err(cause.into()),
        }
    }
}

fn log_migrations(applied: &[String]) {
    if !applied.is_empty() {
        log::info!(migrations = applied.join(", ").as_str(); "applied migrations");
    }
}

/// Creates the data folder and the files of the embedded database, readable only by their owner.
pub(crate) fn prepare_folders(settings: &Settings) -> anyhow::Result<()> {
    files::ensure_private_folder(&settings.data_dir)?;
    if rustix::process::geteuid().is_root() {
        files::require_own_folder(&settings.data_dir)?; // the system refuses other users
    }
    let Some(database) = settings.embedded_database() else { return Ok(()) };
    if let Some(folder) = database.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        files::ensure_private_folder(folder)?;
    }
    files::ensure_private_file(database)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use guerdon_domain::ports::Notifiers;

    use super::open_for_service;
    use crate::settings::Settings;

    #[test]
    fn without_automatic_migration_an_older_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let environment = |migrate: &str| {
            let folder = folder.path().as_os_str().to_owned();
            let migrate = (OsString::from("GUERDON_DATABASE__MIGRATE"), OsString::from(migrate));
            [("GUERDON_DATA_DIR".into(), folder), migrate].into_iter()
        };
        let manual = Settings::from_sources(None, environment("false")).unwrap();
        let open = || open_for_service(&manual, &Notifiers::default()).map(drop);
        let line = format!("{:#}", open().unwrap_err());
        assert!(line.contains("database.migrate is false"), "{line}");
        assert!(line.contains("`guerdon migrate`") && !manual.data_dir.join("guerdon.db").exists(), "{line}");
        guerdon_persistence::migrate(&manual.database).unwrap();
        open().unwrap();
        let automatic = Settings::from_sources(None, environment("true")).unwrap();
        open_for_service(&automatic, &Notifiers::default()).unwrap();
    }

    #[test]
    fn without_a_master_key_no_postgresql_is_queried() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().as_os_str().to_owned();
        let url = OsString::from("postgres://guerdon@127.0.0.1:1/guerdon");
        let environment = [("GUERDON_DATA_DIR".into(), folder), ("GUERDON_DATABASE__URL".into(), url)];
        let settings = Settings::from_sources(None, environment.into_iter()).unwrap();
        let line = crate::application::Application::build(&settings, |transport| transport)
            .err()
            .unwrap()
            .to_string();
        assert!(line.starts_with("master_key or master_key_file must be set"), "{line}");
    }
}

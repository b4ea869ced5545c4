//! `guerdon restore`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism; // tidy: the parts of an audit run in parallel

use anyhow::{Context, Result, bail};
use guerdon_domain::ports::{Clock as _, Setting, StoreExt};
use guerdon_persistence::{Access, DatabaseUrl, migrate, open, read_stored_setting};
use serde::Serialize;

use crate::commands::{CommandOutput, CommandView};
use crate::keys::find_master_key;
use crate::maintenance::{VerificationOptions, verify_database};
use crate::platform::{SystemClock, files};
use crate::settings::Settings;

/// The suffixes of the files that SQLite creates next to a database.
const LOG_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Restore a backup of the embedded database into an empty data folder.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = r"Examples:
  guerdon restore COPY
  guerdon --output json restore COPY")]
pub(crate) struct Restore {
    /// A backup from `guerdon backup`
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
struct RestoreView {
    database: String,
    /// The fingerprint of the master key that the backup was created with.
    master_key: Option<String>,
    /// Whether this machine has that master key.
    has_master_key: bool,
}

impl CommandView for RestoreView {
    fn to_text(&self) -> String {
        let key = match (&self.master_key, self.has_master_key) {
            (None, _) => String::new(),
            (Some(_), true) => "\nThe master key matches the backup.".to_owned(),
            (Some(fingerprint), false) => format!(
                "\nIts master key (fingerprint {fingerprint}) is missing: put it into master.key in the data folder, or \
                 into the settings, before any other command."
            ),
        };
        format!(
            "restored and verified {}.{key}\nNext: run `guerdon verify` with --head of the last seal you stored, then \
             `guerdon serve`. Events that were sent since the backup are sent again.",
            self.database
        )
    }
}

impl Restore {
    pub(super) fn restore_backup(&self, settings: &Settings) -> Result<CommandOutput> {
        let Some(database) = settings.embedded_database() else {
            bail!("the database is PostgreSQL: use pg_restore, as docs/operating.md shows");
        };
        if database.try_exists().with_context(|| format!("cannot access {}", database.display()))? {
            bail!("{} already exists: restore the backup into an empty data folder", database.display());
        }
        for suffix in LOG_SUFFIXES {
            let name = files::with_suffix(database, suffix);
            if name.try_exists().with_context(|| format!("cannot access {}", name.display()))? {
                bail!("{} remains from a deleted database: move it away first", name.display());
            }
        }
        for suffix in ["-wal", "-journal"] {
            let name = files::with_suffix(&self.file, suffix);
            if name.metadata().is_ok_and(|metadata| metadata.len() > 0) {
                bail!(
                    "{} is not a backup but a database with a separate log {}: put both into a data folder as \
                     they are, and run `guerdon serve` with it",
                    self.file.display(),
                    name.display()
                );
            }
        }
        files::ensure_private_folder(&settings.data_dir)?;
        files::require_own_folder(&settings.data_dir)?;
        if let Some(folder) = database.parent() {
            files::ensure_private_folder(folder)?;
        }
        let partial = files::with_suffix(database, ".restoring");
        let partial_file =
            files::create_locked(&partial).with_context(|| format!("cannot write {}", partial.display()))?;
        let Some(partial_file) = partial_file else {
            bail!("another restore is writing {}", partial.display());
        };
        // SQLite would apply the logs of a restore that was killed to the new copy.
        remove_files(&partial, &LOG_SUFFIXES);
        let restored = self.restore_into(settings, database, (partial_file, &partial));
        remove_files(&partial, &LOG_SUFFIXES);
        remove_files(&partial, &["", ".lock", ".migrating"]);
        Ok(restored?.to_output()?)
    }

    fn restore_into(
        &self,
        settings: &Settings,
        database: &Path,
        (mut partial_file, partial): (File, &Path),
    ) -> Result<RestoreView> {
        let is_plain = self.file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        if self.file.exists() && !is_plain {
            bail!("{} is not a backup: it is empty or not a file", self.file.display());
        }
        let mut file =
            File::open(&self.file).with_context(|| format!("cannot read {}", self.file.display()))?;
        io::copy(&mut file, &mut partial_file)
            .with_context(|| format!("cannot copy {} to {}", self.file.display(), partial.display()))?;
        partial_file.sync_all().with_context(|| format!("cannot write {}", partial.display()))?;
        let fingerprint = migrate_and_verify(partial, settings)
            .with_context(|| format!("cannot restore {}", self.file.display()))?;
        let is_matching = find_master_key(settings)?.map(|key| Some(key.fingerprint()) == fingerprint);
        if is_matching == Some(false) && fingerprint.is_some() {
            bail!("the configured master key is not the one that the backup was created with");
        }
        if !files::move_to_new_name(partial, database)? {
            bail!("{} already exists", database.display());
        }
        let database = database.display().to_string();
        Ok(RestoreView { database, master_key: fingerprint, has_master_key: is_matching == Some(true) })
    }
}

/// Removes the files whose names are that of `file` with a suffix. Ignores missing files.
fn remove_files(file: &Path, suffixes: &[&str]) {
    for suffix in suffixes {
        let _gone = fs::remove_file(files::with_suffix(file, suffix));
    }
}

/// Returns the actual length of an SQLite database and the length that its header states. `None` if the file is not an
/// SQLite database, or its header states no length.
fn database_length(file: &Path) -> Result<Option<(u64, u64)>> {
    let mut header = [0; 100];
    let mut opened = File::open(file)?;
    if opened.read_exact(&mut header).is_err() || !header.starts_with(b"SQLite format 3\0") {
        return Ok(None);
    }
    let field = |at: usize| {
        let bytes = header.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let [Some(pages), Some(changes), Some(valid_for)] = [28, 24, 92].map(field) else { return Ok(None) };
    let page_bytes = match [header[16], header[17]] {
        [0, 1] => 65_536,
        size => u64::from(u16::from_be_bytes(size)),
    };
    let expected = u64::from(pages) * page_bytes;
    Ok((pages > 0 && changes == valid_for).then_some((opened.metadata()?.len(), expected)))
}

/// Migrates and verifies the copy, and returns the fingerprint of its master key. Fails if the copy is not a Guerdon
/// database, is newer than this program, or is damaged. No write-ahead log remains afterwards.
fn migrate_and_verify(copy: &Path, settings: &Settings) -> Result<Option<String>> {
    let url = DatabaseUrl::Sqlite(copy.to_owned());
    let expected = database_length(copy)?;
    if let Some((length, expected)) = expected.filter(|(length, expected)| length < expected) {
        bail!("it is incomplete: {length} of {expected} bytes");
    }
    if read_stored_setting(&url, Setting::MasterKeyFingerprint).is_none() {
        // Guerdon stores the fingerprint of the master key when it first starts.
        bail!("it is {}not a Guerdon backup", if expected.is_some() { "damaged, or " } else { "" });
    }
    let store = match open(&url, Access::Command) {
        Err(guerdon_persistence::OpenError::Older) => {
            migrate(&url)?;
            open(&url, Access::Command)?
        }
        opened => opened?,
    };
    let threads = available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    let options = VerificationOptions { threads, ..VerificationOptions::default() };
    let report = verify_database(store.as_ref(), &settings.webhooks, SystemClock.now(), &options)?;
    if let Some(first) = report.violations.first() {
        bail!("the backup is damaged ({}): {}", first.invariant, first.detail);
    }
    Ok(store.read_snapshot(|reads| reads.get_setting(Setting::MasterKeyFingerprint))?)
}

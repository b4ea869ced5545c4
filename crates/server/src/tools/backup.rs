//! `guerdon backup`.

use std::fs::{self, File};
use std::path::{Path, PathBuf, absolute};
use std::thread::{scope, sleep}; // tidy: waits between two syncs of the growing copy
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use guerdon_console::numbers;
use guerdon_persistence::copy_sqlite;
use serde::Serialize;

use crate::application::run_command;
use crate::commands::{Command, CommandOutput, CommandView, RecordBackup, Seal, SealView};
use crate::platform::files;
use crate::settings::Settings;
use crate::terminal::Progress;

/// How often the copy is synced. A single large sync would delay the commits of the service on the same disk.
const SYNC_INTERVAL: Duration = Duration::from_millis(20);

/// Copy a consistent snapshot of the embedded database to a file while it is in use. The master key is not included.
///
/// Records the time in the database, for the status, the metrics and the console.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = r"Examples:
  guerdon backup NEW_COPY
  guerdon --output json backup NEW_COPY-2
  guerdon backup --record")]
pub(crate) struct Backup {
    /// The file to create; an existing file is never replaced
    #[arg(value_name = "FILE", required_unless_present = "record")]
    file: Option<PathBuf>,
    /// Only record that another program, such as `pg_dump`, has just made a backup
    #[arg(long, conflicts_with = "file")]
    record: bool,
}

#[derive(Serialize)]
struct BackupView {
    file: String,
    bytes: u64,
    /// The head of the hash chain when the backup began; `None` before the first seal. If later entries
    /// could not be sealed, a note says so and why.
    head: Option<String>,
}

impl CommandView for BackupView {
    fn to_text(&self) -> String {
        let proof = self.head.as_ref().map_or_else(String::new, |head| {
            format!(
                "\nAfter a restore, run `guerdon verify --head {head}`: it proves that nothing before it is \
                 missing."
            )
        });
        format!(
            "wrote {}, {}.\nIt does not contain the master key, which is needed to decrypt its secrets: \
             store the key separately (master.key in the data folder, unless it is in the settings).{proof}",
            self.file,
            numbers::count_with_noun(self.bytes, "byte", "bytes")
        )
    }
}

impl Backup {
    /// Writes the copy, if one is requested, and records the backup.
    pub(super) fn write_backup(&self, settings: &Settings, progress: &Progress) -> Result<CommandOutput> {
        let record = || {
            let command = Command::RecordBackup(RecordBackup::default());
            run_command(settings, &command, &Progress::default())
        };
        let Some(file) = &self.file else { return record() };
        let mut output = copy_database(file, settings, progress)?;
        if let Err(cause) = record() {
            output
                .notes
                .push(format!("the backup is complete, but its time could not be recorded: {cause:#}"));
        }
        Ok(output)
    }
}

/// Seals what can be sealed in the process that holds the database, then copies the file in this process: a service
/// that is confined to its data folder needs no access to the target.
fn copy_database(file: &Path, settings: &Settings, progress: &Progress) -> Result<CommandOutput> {
    let Some(database) = settings.embedded_database() else {
        bail!(
            "the database is PostgreSQL: use pg_dump or pg_basebackup, as docs/operating.md shows, and \
                 `guerdon backup --record` afterwards"
        );
    };
    let file = absolute(file).with_context(|| format!("cannot access {}", file.display()))?;
    if file.try_exists().with_context(|| format!("cannot access {}", file.display()))? {
        bail!("{} already exists", file.display());
    }
    let sealed = run_command(settings, &Command::Seal(Seal::for_backup()), &Progress::default())?;
    let notes = sealed.notes;
    let sealed: Option<SealView> = serde_json::from_str(&sealed.json).context("cannot read the seal")?;
    let bytes = write_copy(database, &file, progress)?;
    let head = sealed.map(|seal| seal.head);
    let output = BackupView { file: file.display().to_string(), bytes, head }.to_output()?;
    Ok(CommandOutput { notes, ..output })
}

/// Writes the copy to a partial file, and renames it when it is complete and synced. Returns its size in bytes.
fn write_copy(database: &Path, file: &Path, progress: &Progress) -> Result<u64> {
    let partial = files::with_suffix(file, ".partial");
    let failed = |cause: std::io::Error| anyhow!("cannot write {}: {cause}", file.display());
    let partial_file = files::create_locked(&partial).map_err(failed)?;
    let Some(partial_file) = partial_file else {
        bail!("another backup is writing {}", file.display());
    };
    let done = copy_and_sync(database, (&partial_file, &partial), progress);
    let bytes = done.and_then(|()| {
        partial_file.sync_all().map_err(failed)?;
        if !files::is_file_at(&partial_file, &partial) {
            bail!("{} was replaced while it was written", partial.display());
        }
        if !files::move_to_new_name(&partial, file)? {
            bail!("{} already exists", file.display());
        }
        Ok(partial_file.metadata().map_err(failed)?.len())
    });
    let _gone = fs::remove_file(&partial);
    bytes
}

/// Copies the database, while another thread syncs the copy and shows the progress.
fn copy_and_sync(database: &Path, (partial_file, to): (&File, &Path), progress: &Progress) -> Result<()> {
    let size =
        |path: &Path| usize::try_from(path.metadata().map_or(0, |metadata| metadata.len())).unwrap_or(0);
    progress.show_bytes(size(database));
    scope(|scope| {
        let copying = scope.spawn(|| copy_sqlite(database, to));
        let (mut copied, mut faults) = (0, Vec::new());
        while !copying.is_finished() {
            // The system reports such a failure only once; a later sync may succeed.
            faults.extend(partial_file.sync_data().err());
            let now = size(to);
            progress.advance_by(now.saturating_sub(copied));
            copied = now;
            sleep(SYNC_INTERVAL);
        }
        copying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        match faults.into_iter().next() {
            Some(cause) => Err(anyhow!("cannot write {}: {cause}", to.display())),
            None => Ok(()),
        }
    })
}

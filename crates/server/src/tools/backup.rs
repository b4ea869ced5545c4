//! `guerdon backup`.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf, absolute};
use std::thread::{scope, sleep}; // tidy: the bar is drawn while the copy grows
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use guerdon_persistence::copy_sqlite;
use serde::Serialize;

use crate::commands::{Command, Output, Seal, Sealed, View};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::work::work;
use crate::world::files;

const DRAWN_EVERY: Duration = Duration::from_millis(200);

/// Copies the embedded database into a file, as it stands at one moment, while it is in use. The master key is not in it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Backup {
    /// The file to be written; one that is there is never replaced
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

#[derive(Serialize)]
struct Copied {
    file: String,
    bytes: u64,
    /// The chain's head, which the copy has too; none where nothing is sealed yet.
    head: Option<String>,
}

impl View for Copied {
    fn text(&self) -> String {
        let proof = self.head.as_ref().map_or_else(String::new, |head| {
            format!("\nOnce restored, `guerdon verify --head {head}` proves that nothing is missing.")
        });
        format!(
            "{} is written, {} bytes.\nThe master key is not in it, and without the key its secrets are unreadable: \
             keep the key apart (master.key in the data folder, unless the settings hold it).{proof}",
            self.file, self.bytes
        )
    }
}

impl Backup {
    /// Has everything sealed by whoever has the database, then copies it here: a service that sees nothing but its data
    /// folder need not see where the copy goes.
    pub(super) fn run(&self, settings: &Settings, progress: &Progress) -> Result<Output> {
        let Some(database) = settings.embedded_database() else {
            bail!("the database is PostgreSQL: use pg_dump or pg_basebackup, as docs/operating.md shows");
        };
        let file = absolute(&self.file).with_context(|| format!("cannot look at {}", self.file.display()))?;
        if file.try_exists().with_context(|| format!("cannot look at {}", file.display()))? {
            bail!("{} is there already", file.display());
        }
        let sealed = work(settings, &Command::Seal(Seal::if_any()), &Progress::default())?;
        let sealed: Option<Sealed> = serde_json::from_str(&sealed.json).context("reading the seal")?;
        let bytes = copied(database, &file, progress)?;
        let head = sealed.map(|it| it.head);
        Ok(Copied { file: file.display().to_string(), bytes, head }.output()?)
    }
}

/// Writes the copy beside its place, and puts it there when it is whole and on the disk.
fn copied(database: &Path, file: &Path, progress: &Progress) -> Result<u64> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let failed = |cause: std::io::Error| anyhow!("cannot write {}: {cause}", file.display());
    let own = claimed(&partial).map_err(failed)?;
    let Some(own) = own else {
        bail!("another backup is writing {}", file.display());
    };
    let done = drawn(database, &partial, progress);
    let kept = done.and_then(|()| {
        own.sync_all().map_err(failed)?;
        if !files::place_new(&partial, file)? {
            bail!("{} is there already", file.display());
        }
        Ok(own.metadata().map_err(failed)?.len())
    });
    let _gone = fs::remove_file(&partial);
    kept
}

/// An empty file that is ours alone while we hold it, and that nobody else can read; none while it is another's. What a backup
/// that was killed has left is begun anew.
fn claimed(partial: &Path) -> std::io::Result<Option<File>> {
    loop {
        let own = File::options().write(true).create(true).truncate(false).mode(0o600).open(partial)?;
        match own.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
        // Whoever held it before us may have taken it away meanwhile.
        if partial.metadata().is_ok_and(|it| own.metadata().is_ok_and(|own| own.ino() == it.ino())) {
            own.set_len(0)?;
            return Ok(Some(own));
        }
    }
}

/// Copies, and draws meanwhile how much of it is there.
fn drawn(database: &Path, to: &Path, progress: &Progress) -> Result<()> {
    let size = |it: &Path| usize::try_from(it.metadata().map_or(0, |it| it.len())).unwrap_or(0);
    progress.of_bytes(size(database));
    scope(|scope| {
        let copying = scope.spawn(|| copy_sqlite(database, to));
        let mut there = 0;
        while progress.is_shown() && !copying.is_finished() {
            let now = size(to);
            progress.advance(now.saturating_sub(there));
            there = now;
            sleep(DRAWN_EVERY);
        }
        Ok(copying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)
    })
}

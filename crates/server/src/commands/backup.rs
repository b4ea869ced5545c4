//! `guerdon backup`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::{scope, sleep}; // tidy: the bar is drawn while the copy grows
use std::time::Duration;

use guerdon_domain::ports::{Clock as _, Seal};
use guerdon_persistence::copy_sqlite;
use serde::{Deserialize, Serialize};

use super::{CommandError, Output, Runnable, View, Workplace};
use crate::world::SystemClock;
use crate::{hex, sealing};

const DRAWN_EVERY: Duration = Duration::from_millis(200);

/// Copies the embedded database into a file, as it stands at one moment, while it is in use. The master key is not in it.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Backup {
    /// The file to be written; one that is there is never replaced
    #[arg(value_name = "FILE", value_parser = absolute)]
    file: PathBuf,
}

/// The command may be run by another process, in another folder.
pub(super) fn absolute(text: &str) -> Result<PathBuf, String> {
    std::path::absolute(text).map_err(|cause| cause.to_string())
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

impl Runnable for Backup {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let Some(database) = workplace.settings.embedded_database() else {
            return Err(CommandError::refused(
                "the database is PostgreSQL: use pg_dump or pg_basebackup, as docs/operating.md shows",
            ));
        };
        if self.file.exists() {
            return Err(CommandError::Refused(format!("{} is there already", self.file.display())));
        }
        let seal = sealing::seal_all(workplace.store.as_ref(), SystemClock.now())?;
        let bytes = copied(database, &self.file, workplace)?;
        let head = seal.map(|it: Seal| hex::encode(&it.head));
        Copied { file: self.file.display().to_string(), bytes, head }.output()
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

/// Writes the copy beside its place, and puts it there when it is whole and on the disk.
fn copied(database: &Path, file: &Path, workplace: &Workplace) -> Result<u64, CommandError> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let failed =
        |cause: std::io::Error| CommandError::Failed(format!("cannot write {}: {cause}", file.display()));
    match fs::remove_file(&partial) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(failed(cause)),
        _ => {}
    }
    // Made beforehand, so that nobody else can read it while it is written.
    File::create_new(&partial).map_err(failed)?;
    fs::set_permissions(&partial, Permissions::from_mode(0o600)).map_err(failed)?;
    let done = drawn(database, &partial, workplace);
    let kept = done.and_then(|()| {
        File::open(&partial).and_then(|it| it.sync_all()).map_err(failed)?;
        fs::hard_link(&partial, file).map_err(failed)?; // unlike a rename, a link does not replace
        let folder = file.parent().unwrap_or(Path::new("/"));
        File::open(folder).and_then(|it| it.sync_all()).map_err(failed)?;
        Ok(file.metadata().map_err(failed)?.len())
    });
    let _gone = fs::remove_file(&partial);
    kept
}

/// Copies, and draws meanwhile how much of it is there.
fn drawn(database: &Path, to: &Path, workplace: &Workplace) -> Result<(), CommandError> {
    let size = |it: &Path| usize::try_from(it.metadata().map_or(0, |it| it.len())).unwrap_or(0);
    workplace.progress.of_bytes(size(database));
    scope(|scope| {
        let copying = scope.spawn(|| copy_sqlite(database, to).map_err(CommandError::refused));
        let mut there = 0;
        while workplace.progress.is_shown() && !copying.is_finished() {
            let now = size(to);
            workplace.progress.advance(now.saturating_sub(there));
            there = now;
            sleep(DRAWN_EVERY);
        }
        copying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

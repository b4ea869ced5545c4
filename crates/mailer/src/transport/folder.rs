//! Mails as files, for where no mail server is configured.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use guerdon_domain::ports::{ClaimedMail, Timestamp};

use super::Transport;
use crate::failure::Failure;
use crate::from_address::FromAddress;
use crate::letter::Letter;

/// The name of a file that is being written.
const UNFINISHED: &str = ".unfinished-";

/// Writes each mail to a file `<created_at>-<id>.eml` that only its owner can read, whole or not at all. A mail that
/// comes again takes the place of its own file.
#[derive(Debug)]
pub struct FolderTransport {
    folder: PathBuf,
    sender: FromAddress,
}

impl FolderTransport {
    /// Makes the folder where it is missing, and removes what a crash left unfinished in it.
    pub fn open(folder: impl Into<PathBuf>, sender: FromAddress) -> io::Result<Self> {
        let folder = folder.into();
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        if let Some(parent) = folder.parent().filter(|it| !it.as_os_str().is_empty()) {
            File::open(parent)?.sync_all()?;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                remove(&entry.path())?;
            }
        }
        Ok(Self { folder, sender })
    }

    fn write(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let beside = self.folder.join(format!("{UNFINISHED}{}-{name}.part", std::process::id()));
        remove(&beside)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&beside, self.folder.join(name))?;
        File::open(&self.folder)?.sync_all()
    }
}

impl Transport for FolderTransport {
    fn send(&mut self, mail: &ClaimedMail) -> Result<(), Failure> {
        let letter = Letter::write(mail, &self.sender)?;
        let name = format!("{}-{}.eml", compact(mail.created_at), mail.id);
        let written = self.write(&name, letter.bytes());
        written
            .map_err(|cause| Failure::server(format!("cannot write to {}: {cause}", self.folder.display())))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

/// The moment in UTC as file names sort by it: `20261121T102201.123456Z`.
fn compact(at: Timestamp) -> String {
    let (date, clock) = (at.utc().date(), at.utc().time());
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}.{:06}Z",
        date.year(),
        u8::from(date.month()),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second(),
        clock.microsecond()
    )
}

//! Writes emails to files, for installations without a mail server.

use std::fs::{self, DirBuilder, DirEntry, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use guerdon_domain::ports::Timestamp;

use super::MailTransport;
use crate::encoded_message::EncodedMessage;
use crate::failure::SendFailure;
use crate::from_address::FromAddress;
use crate::mail::Mail;

/// The prefix of a file that is being written.
const UNFINISHED_PREFIX: &str = ".unfinished-";
/// A file is written within seconds. An unfinished one that is older than this remains from a process that was killed.
const UNFINISHED_AGE_MAX: Duration = Duration::from_secs(3_600);

/// Writes each email atomically to a file `<created_at>-<id>.eml` that only its owner can read. An email that is sent
/// again replaces its file.
#[derive(Debug)]
pub struct FolderTransport {
    folder: PathBuf,
    sender: FromAddress,
}

impl FolderTransport {
    /// Creates the folder if it is missing, and removes unfinished files that a crash has left in it. Those of the last
    /// hour stay, because another process may be writing them.
    pub fn open(folder: impl Into<PathBuf>, sender: FromAddress) -> io::Result<Self> {
        let folder = folder.into();
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            File::open(parent)?.sync_all()?;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED_PREFIX) && is_abandoned(&entry) {
                remove_if_present(&entry.path())?;
            }
        }
        Ok(Self { folder, sender })
    }

    fn write_file(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let unfinished = self.folder.join(format!("{UNFINISHED_PREFIX}{}-{name}.part", std::process::id()));
        remove_if_present(&unfinished)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&unfinished, self.folder.join(name))?;
        File::open(&self.folder)?.sync_all()
    }
}

impl MailTransport for FolderTransport {
    fn send_mail(&mut self, mail: &Mail) -> Result<(), SendFailure> {
        let message = EncodedMessage::encode_mail(mail, &self.sender)?;
        let name = format!("{}-{}.eml", file_timestamp(mail.created_at), mail.id);
        let written = self.write_file(&name, message.as_bytes());
        written.map_err(|cause| {
            SendFailure::server(format!("cannot write to {}: {cause}", self.folder.display()))
        })
    }
}

fn is_abandoned(file: &DirEntry) -> bool {
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > UNFINISHED_AGE_MAX))
}

fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

/// A time in UTC, in a form in which file names sort by time: `20261121T102201.123456Z`.
fn file_timestamp(at: Timestamp) -> String {
    let (date, clock) = (at.to_utc().date(), at.to_utc().time());
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

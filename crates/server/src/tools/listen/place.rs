//! Stores the position at which `guerdon listen` stopped, in a file per user, credentials and target.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use data_encoding::HEXLOWER;
use guerdon_client::{Event, Start};
use guerdon_domain::ports::Timestamp;
use ring::digest::{SHA256, digest};

use crate::platform::files;

/// A position in the event feed. Its file has the time from which events are wanted, and after a space the cursor, once
/// there is one.
pub(super) struct Place {
    file: PathBuf,
    since: String,
    cursor: Option<String>,
}

impl Place {
    /// Reads the position that is stored for these parts.
    pub(super) fn find(parts: &[&str]) -> Result<Self> {
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local").join("state"));
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
        let folder = state.context("neither XDG_STATE_HOME nor HOME is set")?.join("guerdon").join("listen");
        files::ensure_private_folder(&folder)?;
        let name = HEXLOWER.encode(digest(&SHA256, parts.join("\n").as_bytes()).as_ref());
        Ok(Self::read(folder.join(name.get(..32).unwrap_or(&name))))
    }

    fn read(file: PathBuf) -> Self {
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        let mut words = kept.split_whitespace();
        let since = words.next().filter(|word| Timestamp::parse(word).is_ok()).unwrap_or_default().to_owned();
        let cursor = words.next().filter(|_| !since.is_empty()).map(str::to_owned);
        Self { file, since, cursor }
    }

    /// Whether a position was stored.
    pub(super) fn is_begun(&self) -> bool {
        !self.since.is_empty()
    }

    /// Starts at a time, and stores that.
    pub(super) fn begin(&mut self, since: Timestamp) -> Result<()> {
        self.since = since.to_string();
        self.cursor = None;
        files::replace_private_file(&self.file, self.since.as_bytes())
    }

    /// The start for the next request.
    pub(super) fn start(&self) -> Start<'_> {
        match &self.cursor {
            Some(cursor) => Start::Cursor(cursor),
            None => Start::Moment(&self.since),
        }
    }

    /// Whether an event is from the wanted time: the service may start a little earlier. Times have one format, so that
    /// they can be compared as text.
    pub(super) fn wants(&self, event: &Event) -> bool {
        event.created_at.as_str() >= self.since.as_str()
    }

    /// Advances to a cursor, and stores that.
    pub(super) fn advance(&mut self, cursor: &str) -> Result<()> {
        if self.cursor.as_deref() == Some(cursor) {
            return Ok(());
        }
        self.cursor = Some(cursor.to_owned());
        files::replace_private_file(&self.file, format!("{} {cursor}", self.since).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_time_then_a_cursor_and_is_restored() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("place");
        let mut place = Place::read(file.clone());
        assert!(!place.is_begun());
        place.begin(Timestamp::parse("2026-11-20T20:01:02.345678Z").unwrap()).unwrap();
        let found = Place::read(file.clone());
        assert!(found.is_begun());
        assert!(matches!(found.start(), Start::Moment("2026-11-20T20:01:02.345Z")));
        place.advance("1f.ab").unwrap();
        let mut found = Place::read(file.clone());
        assert!(matches!(found.start(), Start::Cursor("1f.ab")));
        assert_eq!(found.since, "2026-11-20T20:01:02.345Z");
        found.begin(Timestamp::UNIX_EPOCH).unwrap();
        assert!(matches!(Place::read(file.clone()).start(), Start::Moment("1970-01-01T00:00:00.000Z")));
        std::fs::write(&file, "1f.ab").unwrap();
        assert!(!Place::read(file).is_begun());
    }
}

//! Stores the position at which `guerdon listen` stopped, in a file per user, credentials and target.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use data_encoding::HEXLOWER;
use guerdon_client::{Event, Start};
use guerdon_domain::ports::Timestamp;
use ring::digest::{SHA256, digest};

use crate::platform::files;

/// How far the events have been forwarded. Its file contains the start time and, if events have been read, a space and
/// the cursor.
pub(super) struct ListenPosition {
    file: PathBuf,
    since: String,
    cursor: Option<String>,
}

impl ListenPosition {
    /// Reads the position that is stored for this combination of service, credentials and target.
    pub(super) fn load_for(parts: &[&str]) -> Result<Self> {
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local").join("state"));
        let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
        let state = state.context("cannot store the position: set HOME or XDG_STATE_HOME")?;
        let folder = state.join("guerdon").join("listen");
        files::ensure_private_folder(&folder)?;
        let name = HEXLOWER.encode(digest(&SHA256, parts.join("\n").as_bytes()).as_ref());
        Ok(Self::read_file(folder.join(name.get(..32).unwrap_or(&name))))
    }

    fn read_file(file: PathBuf) -> Self {
        let stored = std::fs::read_to_string(&file).unwrap_or_default();
        let mut words = stored.split_whitespace();
        let since = words.next().filter(|word| Timestamp::parse(word).is_ok()).unwrap_or_default().to_owned();
        let cursor = words.next().filter(|_| !since.is_empty()).map(str::to_owned);
        Self { file, since, cursor }
    }

    /// Whether a position was stored.
    pub(super) fn is_stored(&self) -> bool {
        !self.since.is_empty()
    }

    /// Sets the start time and stores the position.
    pub(super) fn start_at(&mut self, since: Timestamp) -> Result<()> {
        self.since = since.to_string();
        self.cursor = None;
        files::replace_private_file(&self.file, self.since.as_bytes())
    }

    /// Starts after the events before a cursor, whenever they were created, and stores the position.
    pub(super) fn start_after(&mut self, cursor: &str) -> Result<()> {
        self.since = Timestamp::UNIX_EPOCH.to_string();
        self.cursor = None;
        self.advance_to(cursor)
    }

    /// The start for the next request.
    pub(super) fn feed_start(&self) -> Start<'_> {
        match &self.cursor {
            Some(cursor) => Start::Cursor(cursor),
            None => Start::Moment(&self.since),
        }
    }

    /// Whether an event is not older than the start time, because the service may return slightly older events. Both
    /// times have the same format, so they can be compared as strings.
    pub(super) fn is_wanted(&self, event: &Event) -> bool {
        event.created_at.as_str() >= self.since.as_str()
    }

    /// Advances to a cursor and stores the position.
    pub(super) fn advance_to(&mut self, cursor: &str) -> Result<()> {
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
        let mut position = ListenPosition::read_file(file.clone());
        assert!(!position.is_stored());
        position.start_at(Timestamp::parse("2026-11-20T20:01:02.345678Z").unwrap()).unwrap();
        let found = ListenPosition::read_file(file.clone());
        assert!(found.is_stored());
        assert!(matches!(found.feed_start(), Start::Moment("2026-11-20T20:01:02.345Z")));
        position.advance_to("1f.ab").unwrap();
        let mut found = ListenPosition::read_file(file.clone());
        assert!(matches!(found.feed_start(), Start::Cursor("1f.ab")));
        assert_eq!(found.since, "2026-11-20T20:01:02.345Z");
        found.start_after("20.cd").unwrap();
        assert!(matches!(ListenPosition::read_file(file.clone()).feed_start(), Start::Cursor("20.cd")));
        found.start_at(Timestamp::UNIX_EPOCH).unwrap();
        assert!(matches!(
            ListenPosition::read_file(file.clone()).feed_start(),
            Start::Moment("1970-01-01T00:00:00.000Z")
        ));
        std::fs::write(&file, "1f.ab").unwrap();
        assert!(!ListenPosition::read_file(file).is_stored());
    }
}

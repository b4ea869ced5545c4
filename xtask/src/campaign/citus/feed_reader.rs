//! A client that reads the event feed continuously. Each read starts after the last event that the client has read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::campaign::subject::Subject;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long the reader continues after the load, to read the last events.
const READ_AFTER_END: Duration = Duration::from_secs(3);
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct FeedReader<'a> {
    subject: &'a Subject,
    cursor: Option<String>,
    events: Vec<String>,
}

impl<'a> FeedReader<'a> {
    pub(super) fn new(subject: &'a Subject) -> Self {
        Self { subject, cursor: None, events: Vec::new() }
    }

    /// Reads until the load has ended. Returns the ids of all events.
    pub(super) fn read_until(mut self, ended: &AtomicBool) -> Result<Vec<String>> {
        let mut ended_at = None;
        let mut failing_since = None::<Instant>;
        while ended_at.is_none_or(|at: Instant| at.elapsed() < READ_AFTER_END) {
            if ended.load(Ordering::Relaxed) {
                ended_at = ended_at.or_else(|| Some(Instant::now()));
            }
            match self.read_page() {
                Ok(()) => failing_since = None,
                Err(error) => {
                    let since = *failing_since.get_or_insert_with(Instant::now);
                    ensure!(since.elapsed() < RETRY_TIMEOUT, "the feed cannot be read: {error:#}");
                }
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(self.events)
    }

    fn read_page(&mut self) -> Result<()> {
        let after = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&after={cursor}"));
        let request = self.subject.provider.get_request(&format!("/v1/events?limit=100{after}"));
        let body = self.subject.service.https().connect()?.expect_status(200, &request)?;
        let page: Value = serde_json::from_slice(&body)?;
        let events = page.get("events").and_then(Value::as_array).context("no events")?;
        let ids = events.iter().filter_map(|event| event.get("id").and_then(Value::as_str));
        self.events.extend(ids.map(str::to_owned));
        self.cursor = page.get("next").and_then(Value::as_str).map(str::to_owned).or(self.cursor.take());
        Ok(())
    }
}

//! The events that a receiver has received, compared with the recognitions that they report.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use guerdon_test_harness::WebhookReceiver;

use super::request_log::digest;
use crate::measurement::fixture::first_id;

/// A part of the body of each event that reports a recognition.
const RECOGNITION_EVENT: &[u8] = br#""type":"recognition."#;

/// All events that a receiver has received.
pub(super) struct EventLog<'a> {
    receiver: &'a WebhookReceiver,
    /// Digests of the event ids and the bodies, by recognition.
    events: HashMap<String, u64>,
    /// Deliveries of events that had arrived before.
    pub(super) duplicates: usize,
    /// Deliveries with another id or body than the first delivery for the same recognition.
    pub(super) changed: usize,
}

impl<'a> EventLog<'a> {
    pub(super) fn new(receiver: &'a WebhookReceiver) -> Self {
        Self { receiver, events: HashMap::new(), duplicates: 0, changed: 0 }
    }

    pub(super) fn count_events(&self) -> usize {
        self.events.len()
    }

    /// Records the events that arrived since the last call.
    pub(super) fn collect_arrivals(&mut self) -> Result<()> {
        for delivery in self.receiver.unread_requests() {
            if !contains(&delivery.body, RECOGNITION_EVENT) {
                continue;
            }
            let id = first_id(&delivery.body).context("an event without an id")?;
            let content = digest(&[delivery.event_id().as_bytes(), b"\n", &delivery.body].concat());
            if let Some(first) = self.events.insert(id, content) {
                self.duplicates += 1;
                self.changed += usize::from(first != content);
            }
        }
        Ok(())
    }

    /// Waits until an event of each recognition has arrived. Returns the number of missing events.
    pub(super) fn wait_for_events<'b>(
        &mut self,
        recognitions: impl Iterator<Item = &'b str>,
        timeout: Duration,
    ) -> Result<usize> {
        let mut missing: HashSet<&str> = recognitions.collect();
        let start = Instant::now();
        loop {
            self.collect_arrivals()?;
            missing.retain(|id| !self.events.contains_key(*id));
            if missing.is_empty() || start.elapsed() > timeout {
                return Ok(missing.len());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Counts the events of recognitions that are not among these.
    pub(super) fn count_unrequested<'b>(&self, recognitions: impl Iterator<Item = &'b str>) -> usize {
        let requested: HashSet<&str> = recognitions.collect();
        self.events.keys().filter(|id| !requested.contains(id.as_str())).count()
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

//! Compares the ledger after a failover with the acknowledged requests.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::load::{CLIENTS, Journal, Sent, Site};
use super::pair::Pair;
use crate::harness::https::{Answer, Connection};
use crate::harness::receiver::Receiver;
use crate::harness::wire::first_id;

/// Requests acknowledged within this time before or after the kill are retried with their keys.
const AROUND: Duration = Duration::from_secs(2);
const SETTLED_WITHIN: Duration = Duration::from_secs(60);
const DELIVERED_WITHIN: Duration = Duration::from_secs(120);

/// The findings of one round.
#[derive(Default)]
pub(super) struct Found {
    pub(super) acknowledged: usize,
    /// Acknowledged recognitions that are missing in the ledger.
    pub(super) lost: usize,
    /// Requests without a result during the round, which a retry with the same key resolved.
    pub(super) unknown: usize,
    pub(super) repeated: usize,
    /// Responses to retries that differ from the first response.
    pub(super) changed: usize,
    /// Recognitions that were not requested, or that exist more than once.
    pub(super) doubled: usize,
    pub(super) events_lost: usize,
    pub(super) events_twice: usize,
}

/// A completed round.
pub(super) struct Over<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) pair: &'a Pair,
    pub(super) database: &'a str,
    pub(super) round: usize,
    pub(super) killed: Instant,
}

/// The ids of recognitions by idempotency key.
type Ledger = HashMap<String, Vec<String>>;

impl Over<'_> {
    /// Compares the ledger with the journal, resolves unknown requests, and compares again. Then waits for the
    /// events.
    pub(super) fn look(&self, receiver: &Receiver, journal: &mut Journal) -> Result<Found> {
        let acknowledged = journal.sent.iter().filter(|sent| sent.answer.is_some());
        let mut found = Found { acknowledged: acknowledged.clone().count(), ..Found::default() };
        found.unknown = journal.sent.len() - found.acknowledged;
        let before = self.ledger()?;
        for sent in acknowledged {
            found.lost += usize::from(!self.holds(&before, sent)?);
        }
        self.repeat(journal, &mut found)?;
        let mut after = self.ledger()?;
        for sent in &journal.sent {
            ensure!(self.holds(&after, sent)?, "a repeat was acknowledged, and is not in the ledger");
            let there = after.remove(&Site::key(self.round, sent));
            found.doubled += there.map_or(0, |ids| ids.len() - 1);
        }
        found.doubled += after.len();
        wait_for_events(receiver, &journal.sent, &mut found)?;
        Ok(found)
    }

    /// Returns the recognitions of this round in the database.
    fn ledger(&self) -> Result<Ledger> {
        let rows = self.pair.psql(
            self.database,
            &format!(
                "SELECT c.idempotency_key, r.id FROM journal_entries AS c JOIN recognitions AS r ON r.journal_entry_id = c.id \
                 WHERE c.idempotency_key LIKE '{}-%'",
                self.round
            ),
        )?;
        let mut ledger = Ledger::new();
        for (key, id) in rows.lines().filter_map(|row| row.split_once('|')) {
            ledger.entry(key.to_owned()).or_default().push(id.to_owned());
        }
        Ok(ledger)
    }

    fn holds(&self, ledger: &Ledger, sent: &Sent) -> Result<bool> {
        let told = sent.answer.as_ref().and_then(|body| first_id(body)).context("an answer without an id")?;
        Ok(ledger.get(&Site::key(self.round, sent)).is_some_and(|ids| ids.contains(&told)))
    }

    /// Retries unknown requests and those acknowledged around the kill, with the same keys at the other instance.
    fn repeat(&self, journal: &mut Journal, found: &mut Found) -> Result<()> {
        let connect = |client: usize| self.site.connect(client + 1);
        let mut connections = (0..CLIENTS).map(connect).collect::<Result<Vec<_>>>()?;
        for sent in &mut journal.sent {
            let is_near = sent.at + AROUND > self.killed && sent.at < self.killed + AROUND;
            if sent.answer.is_some() && !is_near {
                continue;
            }
            let connection = connections.get_mut(sent.client).context("no such client")?;
            let answer = settle(connection, &self.site.request(self.round, sent))?;
            found.repeated += 1;
            found.changed += usize::from(sent.answer.as_ref().is_some_and(|first| *first != answer.body));
            sent.answer = Some(answer.body);
        }
        Ok(())
    }
}

/// Retries a request until it is acknowledged.
fn settle(connection: &mut Connection, request: &[u8]) -> Result<Answer> {
    let began = Instant::now();
    loop {
        let answer = connection.call(request)?;
        if answer.status == 201 {
            return Ok(answer);
        }
        ensure!(answer.status == 503, "a repeat: {}", String::from_utf8_lossy(&answer.body));
        ensure!(began.elapsed() < SETTLED_WITHIN, "a repeat is put off for ever");
        std::thread::sleep(answer.retry_after());
    }
}

/// Waits until the receiver has an event of each recognition.
fn wait_for_events(receiver: &Receiver, sent: &[Sent], found: &mut Found) -> Result<()> {
    let mut missing: HashSet<String> =
        sent.iter().filter_map(|sent| first_id(sent.answer.as_ref()?)).collect();
    let (began, mut seen) = (Instant::now(), HashSet::new());
    loop {
        for delivery in receiver.take() {
            let id = first_id(&delivery.body).context("an event without an id")?;
            missing.remove(&id);
            found.events_twice += usize::from(!seen.insert(id));
        }
        if missing.is_empty() || began.elapsed() > DELIVERED_WITHIN {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    found.events_lost = missing.len();
    Ok(())
}

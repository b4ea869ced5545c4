//! What is found after a failover, beside what was acknowledged.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::load::{CLIENTS, Journal, Sent, Site};
use super::pair::Pair;
use crate::harness::https::{Answer, Connection};
use crate::harness::receiver::Receiver;
use crate::harness::wire::first_id;

/// Those that were acknowledged so shortly before the primary died, or so shortly after, are asked for again by their keys.
const AROUND: Duration = Duration::from_secs(2);
const SETTLED_WITHIN: Duration = Duration::from_secs(60);
const DELIVERED_WITHIN: Duration = Duration::from_secs(120);

/// What was found of one round.
#[derive(Default)]
pub(super) struct Found {
    pub(super) acknowledged: usize,
    /// Of these, how many the ledger does not have.
    pub(super) lost: usize,
    /// Of which the clients did not learn during the round what became of them; a repeat by key settled them.
    pub(super) unknown: usize,
    pub(super) repeated: usize,
    /// Answers to repeats that were not the first ones to the byte.
    pub(super) changed: usize,
    /// Recognitions that no client asked for, or not so often.
    pub(super) doubled: usize,
    pub(super) events_lost: usize,
    pub(super) events_twice: usize,
}

/// One round, when it is over.
pub(super) struct Over<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) pair: &'a Pair,
    pub(super) database: &'a str,
    pub(super) round: usize,
    pub(super) killed: Instant,
}

/// The ids of recognitions by the keys under which they were asked for.
type Ledger = HashMap<String, Vec<String>>;

impl Over<'_> {
    /// Holds the ledger against the journal, settles what is unknown, and does so again; then waits for the events.
    pub(super) fn look(&self, receiver: &Receiver, journal: &mut Journal) -> Result<Found> {
        let acknowledged = journal.sent.iter().filter(|it| it.answer.is_some());
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
            found.doubled += there.map_or(0, |it| it.len() - 1);
        }
        found.doubled += after.len();
        wait_for_events(receiver, &journal.sent, &mut found)?;
        Ok(found)
    }

    /// The recognitions of this round, as the database has them now.
    fn ledger(&self) -> Result<Ledger> {
        let rows = self.pair.psql(
            self.database,
            &format!(
                "SELECT c.idempotency_key, r.id FROM causes AS c JOIN recognitions AS r ON r.cause_id = c.id \
                 WHERE c.idempotency_key LIKE '{}-%'",
                self.round
            ),
        )?;
        let mut ledger = Ledger::new();
        for (key, id) in rows.lines().filter_map(|it| it.split_once('|')) {
            ledger.entry(key.to_owned()).or_default().push(id.to_owned());
        }
        Ok(ledger)
    }

    fn holds(&self, ledger: &Ledger, sent: &Sent) -> Result<bool> {
        let told = sent.answer.as_ref().and_then(|it| first_id(it)).context("an answer without an id")?;
        Ok(ledger.get(&Site::key(self.round, sent)).is_some_and(|it| it.contains(&told)))
    }

    /// Asks again, by key and at the other instance, for what is unknown and for what was acknowledged around the death.
    fn repeat(&self, journal: &mut Journal, found: &mut Found) -> Result<()> {
        let connect = |it: usize| self.site.connect(it + 1);
        let mut connections = (0..CLIENTS).map(connect).collect::<Result<Vec<_>>>()?;
        for sent in &mut journal.sent {
            let is_near = sent.at + AROUND > self.killed && sent.at < self.killed + AROUND;
            if sent.answer.is_some() && !is_near {
                continue;
            }
            let connection = connections.get_mut(sent.client).context("no such client")?;
            let answer = settle(connection, &self.site.request(self.round, sent))?;
            found.repeated += 1;
            found.changed += usize::from(sent.answer.as_ref().is_some_and(|it| *it != answer.body));
            sent.answer = Some(answer.body);
        }
        Ok(())
    }
}

/// Repeats a request until it is acknowledged.
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
    let mut missing: HashSet<String> = sent.iter().filter_map(|it| first_id(it.answer.as_ref()?)).collect();
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

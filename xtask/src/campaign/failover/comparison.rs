//! Compares the ledger after a failover with the acknowledged requests.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{HttpResponse, HttpsConnection, WebhookReceiver};

use super::load::{CLIENTS, LoadRequest, LoadTarget, RequestLog};
use super::pair::ServerPair;
use crate::measurement::fixture::first_id;

/// Requests acknowledged within this time before or after the kill are retried with their keys.
const RETRIED_AROUND_KILL: Duration = Duration::from_secs(2);
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);

/// How the ledger differs from the acknowledged requests of a round.
#[derive(Default)]
pub(super) struct Comparison {
    pub(super) acknowledged: usize,
    /// Acknowledged recognitions that are missing in the ledger.
    pub(super) lost: usize,
    /// Requests without a result during the round, which a retry with the same key resolved.
    pub(super) unknown: usize,
    pub(super) retried: usize,
    /// Responses to retries that differ from the first response.
    pub(super) changed: usize,
    /// Recognitions that were not requested, or that exist more than once.
    pub(super) duplicated: usize,
    pub(super) events_lost: usize,
    pub(super) events_duplicated: usize,
}

/// A completed round.
pub(super) struct CompletedRound<'a> {
    pub(super) target: &'a LoadTarget<'a>,
    pub(super) pair: &'a ServerPair,
    pub(super) database: &'a str,
    pub(super) round: usize,
    pub(super) killed: Instant,
}

/// The ids of recognitions by idempotency key.
type RecognitionsByKey = HashMap<String, Vec<String>>;

impl CompletedRound<'_> {
    /// Compares the ledger with the requests, resolves unknown requests, and compares again. Then waits for the
    /// events.
    pub(super) fn compare_with_ledger(
        &self,
        receiver: &WebhookReceiver,
        log: &mut RequestLog,
    ) -> Result<Comparison> {
        let acknowledged = log.requests.iter().filter(|request| request.response.is_some());
        let mut comparison =
            Comparison { acknowledged: acknowledged.clone().count(), ..Comparison::default() };
        comparison.unknown = log.requests.len() - comparison.acknowledged;
        let before = self.read_ledger()?;
        for request in acknowledged {
            comparison.lost += usize::from(!self.is_recorded(&before, request)?);
        }
        self.retry_uncertain(log, &mut comparison)?;
        let mut after = self.read_ledger()?;
        for request in &log.requests {
            ensure!(self.is_recorded(&after, request)?, "a retry was acknowledged but is not in the ledger");
            let ids = after.remove(&LoadTarget::idempotency_key(self.round, request));
            comparison.duplicated += ids.map_or(0, |ids| ids.len() - 1);
        }
        comparison.duplicated += after.len();
        wait_for_events(receiver, &log.requests, &mut comparison)?;
        Ok(comparison)
    }

    /// Returns the recognitions of this round in the database.
    fn read_ledger(&self) -> Result<RecognitionsByKey> {
        let rows = self.pair.run_sql(
            self.database,
            &format!(
                "SELECT c.idempotency_key, r.id FROM journal_entries AS c JOIN recognitions AS r ON r.journal_entry_id = c.id \
                 WHERE c.idempotency_key LIKE '{}-%'",
                self.round
            ),
        )?;
        let mut ledger = RecognitionsByKey::new();
        for (key, id) in rows.lines().filter_map(|row| row.split_once('|')) {
            ledger.entry(key.to_owned()).or_default().push(id.to_owned());
        }
        Ok(ledger)
    }

    fn is_recorded(&self, ledger: &RecognitionsByKey, request: &LoadRequest) -> Result<bool> {
        let id =
            request.response.as_ref().and_then(|body| first_id(body)).context("a response without an id")?;
        Ok(ledger.get(&LoadTarget::idempotency_key(self.round, request)).is_some_and(|ids| ids.contains(&id)))
    }

    /// Retries unknown requests and those acknowledged around the kill, with the same keys at the other instance.
    fn retry_uncertain(&self, log: &mut RequestLog, comparison: &mut Comparison) -> Result<()> {
        let connect = |client: usize| self.target.connect(client + 1);
        let mut connections = (0..CLIENTS).map(connect).collect::<Result<Vec<_>>>()?;
        for request in &mut log.requests {
            let is_near = request.time + RETRIED_AROUND_KILL > self.killed
                && request.time < self.killed + RETRIED_AROUND_KILL;
            if request.response.is_some() && !is_near {
                continue;
            }
            let connection = connections.get_mut(request.client).context("no such client")?;
            let response =
                retry_until_acknowledged(connection, &self.target.request_bytes(self.round, request))?;
            comparison.retried += 1;
            comparison.changed +=
                usize::from(request.response.as_ref().is_some_and(|first| *first != response.body));
            request.response = Some(response.body);
        }
        Ok(())
    }
}

/// Retries a request until it is acknowledged.
fn retry_until_acknowledged(connection: &mut HttpsConnection, request: &[u8]) -> Result<HttpResponse> {
    let start = Instant::now();
    loop {
        let response = connection.send_request(request)?;
        if response.status == 201 {
            return Ok(response);
        }
        ensure!(response.status == 503, "a retry: {}", response.text());
        ensure!(start.elapsed() < RETRY_TIMEOUT, "a retry got only 503 responses");
        std::thread::sleep(response.retry_after());
    }
}

/// Waits until the receiver has an event of each recognition.
fn wait_for_events(
    receiver: &WebhookReceiver,
    requests: &[LoadRequest],
    comparison: &mut Comparison,
) -> Result<()> {
    let mut missing: HashSet<String> =
        requests.iter().filter_map(|request| first_id(request.response.as_ref()?)).collect();
    let (start, mut seen) = (Instant::now(), HashSet::new());
    loop {
        for event in receiver.unread_requests() {
            let id = first_id(&event.body).context("an event without an id")?;
            missing.remove(&id);
            comparison.events_duplicated += usize::from(!seen.insert(id));
        }
        if missing.is_empty() || start.elapsed() > DELIVERY_TIMEOUT {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    comparison.events_lost = missing.len();
    Ok(())
}

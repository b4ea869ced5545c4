//! Clients that send recognitions at a fixed rate, without a journal, which would grow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use guerdon_test_harness::{HttpResponse, HttpsConnection};

use super::acknowledged_ids::AcknowledgedIds;
use crate::campaign::subject::Subject;
use crate::measurement::fixture::first_id;

/// With this many clients, a slow response does not reduce the rate.
const CLIENTS: usize = 32;

/// The load of one service.
pub(super) struct PacedLoad<'a> {
    subject: &'a Subject,
    /// The interval between two recognitions of a client.
    interval: Duration,
    ended: AtomicBool,
    latencies: Mutex<Vec<Duration>>,
    acknowledged: AcknowledgedIds,
    /// The number of responses with another status than 201, by status, with the time and text of the first one.
    refused: Mutex<BTreeMap<u16, (usize, String)>>,
    /// The errors of connections that broke. Clients then open new connections.
    broken: Mutex<Vec<String>>,
}

impl<'a> PacedLoad<'a> {
    pub(super) fn new(subject: &'a Subject, requests_per_second: f64) -> Result<Self> {
        let clients = super::to_f64(CLIENTS);
        Ok(Self {
            subject,
            interval: Duration::from_secs_f64(clients / requests_per_second.max(1.0)),
            ended: AtomicBool::new(false),
            latencies: Mutex::default(),
            acknowledged: AcknowledgedIds::new()?,
            refused: Mutex::default(),
            broken: Mutex::default(),
        })
    }

    /// Runs all clients until `work` ends, and returns its result.
    pub(super) fn run_during<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..CLIENTS).map(|client| scope.spawn(move || self.run_client(client))).collect();
            let result = work();
            self.ended.store(true, Ordering::Relaxed);
            for client in clients {
                let Ok(ended) = client.join() else { bail!("a thread of a client panicked") };
                ended?;
            }
            result
        })
    }

    /// Returns the latencies since the last call.
    pub(super) fn take_latencies(&self) -> Vec<Duration> {
        std::mem::take(&mut *self.latencies.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the ids of the recognitions that were acknowledged with status 201.
    pub(super) fn acknowledged_ids(&self) -> &AcknowledgedIds {
        &self.acknowledged
    }

    /// Returns the number of other responses by status, each with a description of the first one.
    pub(super) fn refused_requests(&self) -> BTreeMap<u16, (usize, String)> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the errors of connections that broke.
    pub(super) fn connection_errors(&self) -> Vec<String> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn run_client(&self, client: usize) -> Result<()> {
        let mut connection = None;
        let (start, first) =
            (Instant::now(), self.interval.mul_f64(super::to_f64(client) / super::to_f64(CLIENTS)));
        for number in 0.. {
            let due = first + self.interval * number;
            std::thread::sleep(due.saturating_sub(start.elapsed()));
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            let count = usize::try_from(number)?;
            let body = self.subject.company.random_recognition(client, count, 1);
            let request = self.subject.provider.post_request("/v1/recognitions", &body);
            let sent = Instant::now();
            let response = match self.send_request(&mut connection, &request) {
                Ok(response) => response,
                Err(error) => {
                    connection = None;
                    let seconds = start.elapsed().as_secs();
                    let error = format!("request {number} of client {client} after {seconds} s: {error:#}");
                    eprintln!("{error}");
                    self.broken.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                    continue;
                }
            };
            self.latencies.lock().unwrap_or_else(PoisonError::into_inner).push(sent.elapsed());
            if response.status == 201 {
                self.acknowledged.add(&first_id(&response.body).context("a response without an id")?)?;
            } else {
                let first = || format!("after {} s: {}", start.elapsed().as_secs(), response.text());
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.entry(response.status).or_insert_with(|| (0, first())).0 += 1;
            }
        }
        Ok(())
    }

    /// Sends a request over the open connection or a new one.
    fn send_request(&self, connection: &mut Option<HttpsConnection>, request: &[u8]) -> Result<HttpResponse> {
        let open = match connection {
            Some(open) => open,
            None => connection.insert(self.subject.service.https().connect().context("connecting")?),
        };
        open.send_request(request)
    }
}

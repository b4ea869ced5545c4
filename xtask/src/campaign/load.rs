//! Clients that send recognitions with idempotency keys, each with a log of its requests.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use guerdon_test_harness::{HttpResponse, HttpsClient, HttpsConnection};

use super::request_log::{Acknowledgement, LoadRequest, RequestLog};
use crate::measurement::fixture::{Company, Provider};

/// The number of clients of a load, unless it is divided between several companies.
pub(super) const CLIENTS: usize = 16;
/// The interval between two recognitions of a client at which the total load, 640 a second, is well below capacity.
pub(super) const MODERATE_INTERVAL: Duration = Duration::from_millis(25);
/// The pause before a client reconnects.
const RECONNECT_DELAY: Duration = Duration::from_millis(100);
/// The resolution at which acknowledgements are counted.
const SLICE_DURATION: Duration = Duration::from_millis(50);
const SLICES_PER_SECOND: usize = 20;
/// The number of slices that are counted: more than a round needs.
const SLICE_COUNT: usize = 200 * SLICES_PER_SECOND;

/// How long a request with an unknown outcome is retried after the load.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// The addresses that the clients call, their credentials and their company.
pub(super) struct LoadTarget<'a> {
    /// The instances of the service, or the router in front of them.
    pub(super) endpoints: Vec<HttpsClient>,
    pub(super) provider: &'a Provider,
    pub(super) company: &'a Company,
}

/// The load of one round.
pub(super) struct Load<'a> {
    target: &'a LoadTarget<'a>,
    clients: usize,
    round: usize,
    /// The interval between two recognitions of a client, if the response is fast enough.
    interval: Duration,
    pub(super) began: Instant,
    ended: AtomicBool,
    acknowledged: Vec<AtomicU32>,
}

impl LoadTarget<'_> {
    /// Returns the bytes of a request, the same for each retry.
    pub(super) fn request_bytes(&self, request: &LoadRequest) -> Vec<u8> {
        let LoadRequest { round, client, number, .. } = *request;
        let body = self.company.random_recognition(round * CLIENTS + client, number, 1);
        self.provider.post_with_key("/v1/recognitions", &body, Some(&request.idempotency_key()))
    }

    /// Connects to this client's endpoint.
    pub(super) fn connect(&self, client: usize) -> Result<HttpsConnection> {
        let endpoint = self.endpoints.get(client % self.endpoints.len().max(1)).context("no endpoint")?;
        endpoint.connect()
    }

    /// Sends a request again, until it is acknowledged.
    pub(super) fn retry_until_acknowledged(
        &self,
        connection: &mut HttpsConnection,
        request: &LoadRequest,
    ) -> Result<Acknowledgement> {
        let (start, bytes) = (Instant::now(), self.request_bytes(request));
        loop {
            let response = connection.send_request(&bytes)?;
            if response.status == 201 {
                return Acknowledgement::from_response(&response);
            }
            ensure!(response.status == 503, "unexpected response to a retry: {}", response.text());
            ensure!(start.elapsed() < RETRY_TIMEOUT, "a retry got only 503 responses");
            std::thread::sleep(response.retry_after());
        }
    }
}

impl<'a> Load<'a> {
    pub(super) fn new(target: &'a LoadTarget<'a>, round: usize, interval: Duration) -> Self {
        Self::with_clients(target, CLIENTS, round, interval)
    }

    /// A load of at most [`CLIENTS`] clients.
    pub(super) fn with_clients(
        target: &'a LoadTarget<'a>,
        clients: usize,
        round: usize,
        interval: Duration,
    ) -> Self {
        let acknowledged = (0..SLICE_COUNT).map(|_| AtomicU32::new(0)).collect();
        let (began, ended) = (Instant::now(), AtomicBool::new(false));
        Self { target, clients, round, interval, began, ended, acknowledged }
    }

    /// Runs all clients until `work` ends, and returns both results.
    pub(super) fn run_during<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> Result<(T, RequestLog)> {
        std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..self.clients).map(|client| scope.spawn(move || self.run_client(client))).collect();
            let result = work();
            self.ended.store(true, Ordering::Relaxed);
            let mut all = RequestLog::default();
            for client in clients {
                let Ok(log) = client.join() else { bail!("a thread of a client panicked") };
                all.merge(log);
            }
            Ok((result?, all))
        })
    }

    /// Returns the acknowledged requests per second in a period of the round.
    pub(super) fn rate_between(&self, from: Duration, to: Duration) -> f64 {
        let slices = self.acknowledged.get(slice_index(from)..slice_index(to)).unwrap_or_default();
        let count: u32 = slices.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        f64::from(count) / (to - from).as_secs_f64()
    }

    /// Returns the end of the first second after `from` in which at least this many requests were acknowledged.
    pub(super) fn time_of_full_rate(&self, from: Duration, requests_per_second: f64) -> Option<Duration> {
        let counts: Vec<u32> = self.acknowledged.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let seconds = counts.windows(SLICES_PER_SECOND).enumerate().skip(slice_index(from) + 1);
        let mut full =
            seconds.filter(|(_, counts)| f64::from(counts.iter().sum::<u32>()) >= requests_per_second);
        let (start, _) = full.next()?;
        Some(SLICE_DURATION * u32::try_from(start + SLICES_PER_SECOND).ok()?)
    }

    fn run_client(&self, client: usize) -> RequestLog {
        let mut log = RequestLog::default();
        let mut connection = None;
        for number in 0.. {
            let (round, sent) = (self.round, Instant::now());
            let mut request = LoadRequest { round, client, number, sent, acknowledgement: None };
            let is_acknowledged = self.send_until_acknowledged(&mut request, &mut connection, &mut log);
            log.requests.push(request);
            if !is_acknowledged || self.ended.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(self.interval.saturating_sub(sent.elapsed()));
        }
        log
    }

    /// Sends a recognition until it is acknowledged. Returns `false` if the round ends first.
    fn send_until_acknowledged(
        &self,
        request: &mut LoadRequest,
        connection: &mut Option<HttpsConnection>,
        log: &mut RequestLog,
    ) -> bool {
        let bytes = self.target.request_bytes(request);
        loop {
            let start = Instant::now();
            let response = send_request(self.target, request.client, connection, &bytes);
            log.longest_wait = log.longest_wait.max(start.elapsed());
            let pause = match response {
                Ok(response) if response.status == 201 => {
                    if let Some(slice) = self.acknowledged.get(slice_index(self.began.elapsed())) {
                        slice.fetch_add(1, Ordering::Relaxed);
                    }
                    log.replayed += usize::from(response.header("idempotency-replayed") == Some("true"));
                    request.acknowledgement = Acknowledgement::from_response(&response).ok();
                    return true;
                }
                Ok(response) if response.status == 503 && response.header("retry-after").is_some() => {
                    log.unavailable += 1;
                    response.retry_after()
                }
                Ok(response) => {
                    log.unexpected.push(format!("{}: {}", response.status, response.text()));
                    RECONNECT_DELAY
                }
                Err(_broken) => {
                    log.broken_connections += 1;
                    *connection = None;
                    RECONNECT_DELAY
                }
            };
            if self.ended.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(pause); // as the response requests
        }
    }
}

/// Sends a request over the open connection or a new one.
pub(super) fn send_request(
    target: &LoadTarget<'_>,
    client: usize,
    connection: &mut Option<HttpsConnection>,
    request: &[u8],
) -> Result<HttpResponse> {
    let open = match connection {
        Some(open) => open,
        None => connection.insert(target.connect(client)?),
    };
    let response = open.send_request(request)?;
    if response.header("connection") == Some("close") {
        *connection = None;
    }
    Ok(response)
}

fn slice_index(at: Duration) -> usize {
    usize::try_from(at.as_millis() / SLICE_DURATION.as_millis()).unwrap_or(usize::MAX)
}

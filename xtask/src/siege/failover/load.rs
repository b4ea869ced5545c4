//! Clients of both instances, each with a journal of its responses.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::harness::fixture::{Company, Provider};
use crate::harness::https::{Answer, Connection};
use crate::harness::service::Service;

pub(super) const CLIENTS: usize = 16;
/// The interval between two recognitions of a client. The total load is well below capacity: the test measures
/// availability, not throughput.
const PACE: Duration = Duration::from_millis(25);
/// The pause before a client reconnects.
const BEFORE_DIALLING: Duration = Duration::from_millis(100);
/// The resolution at which acknowledgements are counted.
const SLICE: Duration = Duration::from_millis(50);
const SLICES_A_SECOND: usize = 20;
/// More than a round needs.
const SLICES: usize = 200 * SLICES_A_SECOND;

/// The instance that a client calls, and its credentials.
pub(super) struct Site<'a> {
    pub(super) services: &'a [Service],
    pub(super) provider: &'a Provider,
    pub(super) company: &'a Company,
}

/// The load of one round.
pub(super) struct Load<'a> {
    site: &'a Site<'a>,
    round: usize,
    pub(super) began: Instant,
    ended: AtomicBool,
    acknowledged: Vec<AtomicU32>,
}

/// A requested recognition.
pub(super) struct Sent {
    pub(super) client: usize,
    pub(super) number: usize,
    /// `None` if the client never received a response.
    pub(super) answer: Option<Vec<u8>>,
    pub(super) at: Instant,
}

/// The responses to one client or to all.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) sent: Vec<Sent>,
    /// Responses that request a later retry.
    pub(super) put_off: usize,
    /// Requests that had been executed although the response asked for a retry: the retry returned the stored
    /// response.
    pub(super) done_unseen: usize,
    /// Connections that broke before a response.
    pub(super) cut_off: usize,
    /// Unexpected responses.
    pub(super) others: Vec<String>,
    pub(super) longest: Duration,
}

impl Site<'_> {
    pub(super) fn key(round: usize, sent: &Sent) -> String {
        format!("{round}-{}-{}", sent.client, sent.number)
    }

    /// Returns the bytes of a request, the same for each retry.
    pub(super) fn request(&self, round: usize, sent: &Sent) -> Vec<u8> {
        let body = self.company.thanks_by_lot(round * CLIENTS + sent.client, sent.number, 1);
        self.provider.post_with_key("/v1/recognitions", &body, Some(&Self::key(round, sent)))
    }

    /// Connects to this client's instance.
    pub(super) fn connect(&self, client: usize) -> Result<Connection> {
        let service = self.services.get(client % self.services.len().max(1)).context("no service")?;
        service.https().connect()
    }
}

impl<'a> Load<'a> {
    pub(super) fn new(site: &'a Site<'a>, round: usize) -> Self {
        let acknowledged = (0..SLICES).map(|_| AtomicU32::new(0)).collect();
        Self { site, round, began: Instant::now(), ended: AtomicBool::new(false), acknowledged }
    }

    /// Runs all clients until `conduct` ends, and returns both results.
    pub(super) fn run<T: Send>(&self, conduct: impl FnOnce() -> Result<T> + Send) -> Result<(T, Journal)> {
        std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..CLIENTS).map(|client| scope.spawn(move || self.client(client))).collect();
            let conducted = conduct();
            self.ended.store(true, Ordering::Relaxed);
            let mut all = Journal::default();
            for client in clients {
                let Ok(journal) = client.join() else { bail!("a thread of a client panicked") };
                all.add(journal);
            }
            Ok((conducted?, all))
        })
    }

    /// Returns the acknowledged requests per second in a period of the round.
    pub(super) fn rate(&self, from: Duration, to: Duration) -> f64 {
        let slices = self.acknowledged.get(slice(from)..slice(to)).unwrap_or_default();
        let count: u32 = slices.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        f64::from(count) / (to - from).as_secs_f64()
    }

    /// Returns the end of the first second after `from` in which at least `wanted` requests were acknowledged.
    pub(super) fn full_after(&self, from: Duration, wanted: f64) -> Option<Duration> {
        let counts: Vec<u32> = self.acknowledged.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let seconds = counts.windows(SLICES_A_SECOND).enumerate().skip(slice(from) + 1);
        let mut full = seconds.filter(|(_, counts)| f64::from(counts.iter().sum::<u32>()) >= wanted);
        let (start, _) = full.next()?;
        Some(SLICE * u32::try_from(start + SLICES_A_SECOND).ok()?)
    }

    fn client(&self, client: usize) -> Journal {
        let mut journal = Journal::default();
        let mut connection = None;
        for number in 0.. {
            let mut sent = Sent { client, number, answer: None, at: Instant::now() };
            let begun = sent.at;
            let is_settled = self.settle(&mut sent, &mut connection, &mut journal);
            journal.sent.push(sent);
            if !is_settled || self.ended.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(PACE.saturating_sub(begun.elapsed()));
        }
        journal
    }

    /// Sends a recognition until it is acknowledged. Returns `false` if the round ends first.
    fn settle(&self, sent: &mut Sent, connection: &mut Option<Connection>, journal: &mut Journal) -> bool {
        let request = self.site.request(self.round, sent);
        loop {
            let asked = Instant::now();
            let answer = call(self.site, sent.client, connection, &request);
            journal.longest = journal.longest.max(asked.elapsed());
            let pause = match answer {
                Ok(answer) if answer.status == 201 => {
                    sent.at = Instant::now();
                    if let Some(slice) = self.acknowledged.get(slice(self.began.elapsed())) {
                        slice.fetch_add(1, Ordering::Relaxed);
                    }
                    journal.done_unseen += usize::from(answer.is_replayed());
                    sent.answer = Some(answer.body);
                    return true;
                }
                Ok(answer) if answer.status == 503 => {
                    journal.put_off += 1;
                    answer.retry_after()
                }
                Ok(answer) => {
                    journal.others.push(format!(
                        "{}: {}",
                        answer.status,
                        String::from_utf8_lossy(&answer.body)
                    ));
                    BEFORE_DIALLING
                }
                Err(_broken) => {
                    journal.cut_off += 1;
                    *connection = None;
                    BEFORE_DIALLING
                }
            };
            if self.ended.load(Ordering::Relaxed) {
                return false;
            }
            std::thread::sleep(pause); // as the response asks
        }
    }
}

impl Journal {
    fn add(&mut self, other: Self) {
        self.sent.extend(other.sent);
        self.put_off += other.put_off;
        self.done_unseen += other.done_unseen;
        self.cut_off += other.cut_off;
        self.others.extend(other.others);
        self.longest = self.longest.max(other.longest);
    }
}

/// Sends a request over the open connection or a new one.
fn call(
    site: &Site<'_>,
    client: usize,
    connection: &mut Option<Connection>,
    request: &[u8],
) -> Result<Answer> {
    let open = match connection {
        Some(open) => open,
        None => connection.insert(site.connect(client)?),
    };
    open.call(request)
}

fn slice(at: Duration) -> usize {
    usize::try_from(at.as_millis() / SLICE.as_millis()).unwrap_or(usize::MAX)
}

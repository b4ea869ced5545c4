//! Opens thousands of slow connections, like slowhttptest, from many addresses: each address may have 256.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use guerdon_test_harness::{HttpsClient, HttpsConnection};

use super::context::{AttackContext, lower_priority};
use super::report::Measurement;
use super::victim::compare_during_attack;
use crate::measurement::percentiles::to_f64;

const CONNECTIONS: usize = 4_000;
/// The number of threads; each uses two addresses.
const THREADS: usize = 8;
const CONNECTIONS_PER_THREAD: usize = CONNECTIONS / THREADS;
const SENDS_PER_INTERVAL: u32 = 500;
/// The interval at which each connection sends.
const SEND_INTERVAL: Duration = Duration::from_secs(1);
/// The time to open all connections.
const WARM_UP: Duration = Duration::from_secs(15);

/// The time after which the service has closed a connection whose client reads nothing.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(35);

/// How a connection is slow.
#[derive(Clone, Copy)]
pub(super) enum SlowMode {
    Heads,
    Bodies,
    Reads,
    Ranges,
}

impl SlowMode {
    /// Returns the first bytes to send on a connection.
    fn first_bytes(self) -> Vec<u8> {
        match self {
            SlowMode::Heads => b"GET /v1/companies HTTP/1.1\r\nHost: localhost\r\n".to_vec(),
            SlowMode::Bodies => {
                b"POST /v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8192\r\n\r\n{".to_vec()
            }
            SlowMode::Reads => {
                b"GET /v1/companies HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(64) // the responses are not read
            }
            SlowMode::Ranges => {
                let ranges: Vec<String> = (0..1_000).map(|end| format!("5-{end}")).collect();
                format!(
                    "HEAD /v1/companies HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-,{}\r\n\r\n",
                    ranges.join(",")
                )
                .into_bytes()
            }
        }
    }

    /// Returns the bytes to send at each interval.
    fn next_bytes(self) -> Vec<u8> {
        match self {
            SlowMode::Heads => b"X-Slow: a\r\n".to_vec(),
            SlowMode::Bodies => b" ".to_vec(),
            SlowMode::Reads | SlowMode::Ranges => Vec::new(),
        }
    }
}

pub(super) fn run(context: &AttackContext<'_>, mode: SlowMode) -> Result<Vec<Measurement>> {
    let https = context.service.https();
    compare_during_attack(context, WARM_UP, |ended| {
        let (open_count, opened_count) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let open_max = std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (open_count, opened_count) = (&open_count, &opened_count);
                scope.spawn(move || hold_connections(https, mode, thread, ended, open_count, opened_count));
            }
            let mut open_max = 0;
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(SEND_INTERVAL / 10);
                open_max = open_max.max(open_count.load(Ordering::Relaxed));
            }
            open_max
        });
        Ok(vec![
            Measurement::without_bound("peak open connections", open_max.to_string()),
            Measurement::without_bound(
                "connections opened",
                format!("{}", to_f64(opened_count.into_inner())),
            ),
        ])
    })
}

/// Keeps connections open, replaces those that were closed, and sends a little on each at every interval.
fn hold_connections(
    https: &HttpsClient,
    mode: SlowMode,
    thread: usize,
    ended: &AtomicBool,
    open_count: &AtomicUsize,
    opened_count: &AtomicUsize,
) {
    lower_priority();
    let mut connections: Vec<Option<SlowConnection>> = (0..CONNECTIONS_PER_THREAD).map(|_| None).collect();
    let (first_bytes, next_bytes) = (mode.first_bytes(), mode.next_bytes());
    while !ended.load(Ordering::Relaxed) {
        let interval_start = Instant::now();
        for (number, slot) in connections.iter_mut().enumerate() {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            let part = u32::try_from(number).unwrap_or(u32::MAX);
            std::thread::sleep(
                (SEND_INTERVAL * part / SENDS_PER_INTERVAL).saturating_sub(interval_start.elapsed()),
            );
            if slot.as_mut().is_some_and(|connection| connection.send_next(mode, &next_bytes)) {
                continue;
            }
            if slot.take().is_some() {
                open_count.fetch_sub(1, Ordering::Relaxed);
            }
            let last = u8::try_from(thread * 2 + number % 2 + 1).unwrap_or(u8::MAX);
            *slot = open_connection(https, Ipv4Addr::new(127, 0, 3, last), &first_bytes).ok();
            if slot.is_some() {
                open_count.fetch_add(1, Ordering::Relaxed);
                opened_count.fetch_add(1, Ordering::Relaxed);
            }
        }
        std::thread::sleep(SEND_INTERVAL.saturating_sub(interval_start.elapsed()));
    }
}

/// A slow connection.
struct SlowConnection {
    connection: HttpsConnection,
    opened: Instant,
}

impl SlowConnection {
    fn send_next(&mut self, mode: SlowMode, next_bytes: &[u8]) -> bool {
        match mode {
            SlowMode::Reads => self.opened.elapsed() < UNREAD_TIMEOUT, // a check would read
            _ => {
                self.connection.discard_received().unwrap_or(false)
                    && self.connection.send_bytes(next_bytes).is_ok()
            }
        }
    }
}

fn open_connection(https: &HttpsClient, address: Ipv4Addr, first_bytes: &[u8]) -> Result<SlowConnection> {
    let mut connection = https.connect_with_io_timeout(address, Duration::from_secs(5))?;
    connection.send_bytes(first_bytes)?;
    Ok(SlowConnection { connection, opened: Instant::now() })
}

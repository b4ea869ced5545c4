//! Opens thousands of slow connections, like slowhttptest, from many addresses: each address may have 256.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::victim::{compare, count};
use super::{Finding, Siege, stand_back};
use crate::harness::https::{Connection, Https};

const CONNECTIONS: usize = 4_000;
/// The number of threads; each uses two addresses.
const HANDS: usize = 8;
const EACH: usize = CONNECTIONS / HANDS;
const EACH_OF_THEM: u32 = 500;
/// The interval at which each connection sends.
const BEAT: Duration = Duration::from_secs(1);
/// The time to open all connections.
const WARM_UP: Duration = Duration::from_secs(15);

/// After this time the service has closed a connection whose client reads nothing.
const CUT_AFTER: Duration = Duration::from_secs(35);

/// How a connection is slow.
#[derive(Clone, Copy)]
pub(super) enum Manner {
    Heads,
    Bodies,
    Reads,
    Ranges,
}

impl Manner {
    /// Returns the first bytes to send on a connection.
    fn opening(self) -> Vec<u8> {
        match self {
            Manner::Heads => b"GET /v1/companies HTTP/1.1\r\nHost: localhost\r\n".to_vec(),
            Manner::Bodies => {
                b"POST /v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8192\r\n\r\n{".to_vec()
            }
            Manner::Reads => {
                b"GET /v1/companies HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(64) // the responses are not read
            }
            Manner::Ranges => {
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
    fn next(self) -> Vec<u8> {
        match self {
            Manner::Heads => b"X-Slow: a\r\n".to_vec(),
            Manner::Bodies => b" ".to_vec(),
            Manner::Reads | Manner::Ranges => Vec::new(),
        }
    }
}

pub(super) fn run(siege: &Siege<'_>, manner: Manner) -> Result<Vec<Finding>> {
    let https = siege.service.https();
    compare(siege, WARM_UP, |ended| {
        let (held, made) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let most = std::thread::scope(|scope| {
            for hand in 0..HANDS {
                let (held, made) = (&held, &made);
                scope.spawn(move || be_slow(https, manner, hand, ended, held, made));
            }
            let mut most = 0;
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(BEAT / 10);
                most = most.max(held.load(Ordering::Relaxed));
            }
            most
        });
        Ok(vec![
            Finding::told("connections held at the most", most.to_string()),
            Finding::told("connections made", format!("{}", count(made.into_inner()))),
        ])
    })
}

/// Keeps connections open, replaces those that were closed, and sends a little on each at every interval.
fn be_slow(
    https: &Https,
    manner: Manner,
    hand: usize,
    ended: &AtomicBool,
    held: &AtomicUsize,
    made: &AtomicUsize,
) {
    stand_back();
    let mut all: Vec<Option<Slow>> = (0..EACH).map(|_| None).collect();
    let (opening, next) = (manner.opening(), manner.next());
    while !ended.load(Ordering::Relaxed) {
        let beat = Instant::now();
        for (number, slot) in all.iter_mut().enumerate() {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            let part = u32::try_from(number).unwrap_or(u32::MAX);
            std::thread::sleep((BEAT * part / EACH_OF_THEM).saturating_sub(beat.elapsed()));
            if slot.as_mut().is_some_and(|slow| slow.goes_on(manner, &next)) {
                continue;
            }
            if slot.take().is_some() {
                held.fetch_sub(1, Ordering::Relaxed);
            }
            let last = u8::try_from(hand * 2 + number % 2 + 1).unwrap_or(u8::MAX);
            *slot = begin(https, Ipv4Addr::new(127, 0, 3, last), &opening).ok();
            if slot.is_some() {
                held.fetch_add(1, Ordering::Relaxed);
                made.fetch_add(1, Ordering::Relaxed);
            }
        }
        std::thread::sleep(BEAT.saturating_sub(beat.elapsed()));
    }
}

/// A slow connection.
struct Slow {
    connection: Connection,
    since: Instant,
}

impl Slow {
    fn goes_on(&mut self, manner: Manner, next: &[u8]) -> bool {
        match manner {
            Manner::Reads => self.since.elapsed() < CUT_AFTER, // a check would read
            _ => self.connection.drain().unwrap_or(false) && self.connection.send(next).is_ok(),
        }
    }
}

fn begin(https: &Https, address: Ipv4Addr, opening: &[u8]) -> Result<Slow> {
    let mut connection = https.connect_from(address)?;
    connection.patience(Duration::from_secs(5))?;
    connection.shake_hands()?;
    connection.send(opening)?;
    Ok(Slow { connection, since: Instant::now() })
}

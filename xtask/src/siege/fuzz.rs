//! Sends randomly damaged requests and checks the responses.
//!
//! Each stream of bytes is sent twice: whole, and in pieces. Both must get the same responses, every response must be
//! one that the API defines, and the service must keep responding until a response announces that the connection
//! closes. The client closes its side in TLS and TCP, or in TCP alone.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::victim::Victim;
use super::{Finding, Siege};
use crate::harness::https::Https;

const HANDS: u8 = 8;
/// The maximum of requests in a stream.
const PIPELINED: u64 = 4;
const PATIENCE: Duration = Duration::from_secs(20);
const STATUSES: [u16; 9] = [200, 201, 204, 400, 401, 403, 404, 405, 503];
/// Inputs on which HTTP parsers have failed.
const BAITS: [&str; 34] = [
    "\r\n",
    "\n",
    "\r",
    "\0",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "%00",
    "\u{fffd}",
    "\u{b}",
    "\r\n ",
    "\r\n\r\n",
    "0\r\n\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: +5\r\n",
    "Content-Length: 5, 5\r\n",
    "Content-Length: 18446744073709551616\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: upgrade\r\n",
    "Upgrade: h2c\r\n",
    "HTTP/1.0",
    "HTTP/2.0",
    "Host: other\r\n",
    "FFFFFFFFFFFFFFFF\r\n",
    "5;a=\"\r\n\"\r\n",
    "GET /v1/companies HTTP/1.1\r\n",
];

/// A seeded pseudo-random generator (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `bound` - 1.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap_or(1))).unwrap_or_default()
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.index(all.len()))
    }
}

/// A response in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Response {
    status: u16,
    /// Whether the response announces that the connection closes (`connection: close`).
    closes: bool,
}

/// Lifts the limit of failed logins, so that damaged credentials always get their regular response.
pub(super) fn settings() -> Vec<(&'static str, String)> {
    vec![("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "0".to_owned())]
}

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let victim = Victim::settle(siege.service)?;
    let sound = templates(&victim);
    let (sent, answered) = (AtomicU32::new(0), AtomicU32::new(0));
    let https = siege.service.https();
    std::thread::scope(|scope| -> Result<()> {
        let hands: Vec<_> = (0..HANDS)
            .map(|hand| {
                let mut dice = Dice(siege.seed.wrapping_mul(1_000).wrapping_add(u64::from(hand)));
                let (sound, sent, answered) = (&sound, &sent, &answered);
                // Each thread has its own address, because handshakes per address are limited.
                let from = Ipv4Addr::new(127, 0, 6, hand + 1);
                scope.spawn(move || -> Result<()> {
                    while sent.load(Ordering::Relaxed) < siege.requests {
                        let (stream, requests) = damaged(sound, &mut dice);
                        let count = twice(https, from, &stream, &mut dice)
                            .with_context(|| format!("answering {:?}", String::from_utf8_lossy(&stream)))?;
                        sent.fetch_add(requests, Ordering::Relaxed);
                        answered.fetch_add(count, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        for hand in hands {
            let Ok(done) = hand.join() else { bail!("a thread that fuzzes panicked") };
            done?;
        }
        Ok(())
    })?;
    Ok(vec![
        Finding::told("fuzzed requests", sent.into_inner().to_string()),
        Finding::told("answers, each shaped and the same in pieces", answered.into_inner().to_string()),
    ])
}

/// Returns valid requests to damage.
fn templates(victim: &Victim<'_>) -> Vec<Vec<u8>> {
    let (provider, company) = (victim.provider(), victim.company());
    let in_chunks = |whole: &[u8]| {
        let text = String::from_utf8_lossy(whole).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let head: Vec<&str> = head.lines().filter(|line| !line.starts_with("Content-Length")).collect();
        let (front, back) = body.split_at(body.len() / 2);
        format!(
            "{}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{front}\r\n{:X};note=\"a;b\"\r\n{back}\r\n0\r\nX-Trailer: a\r\n\r\n",
            head.join("\r\n"),
            front.len(),
            back.len()
        )
        .into_bytes()
    };
    // Invalid in two fields, so that no damage makes it valid and creates a user, which would change the second
    // response.
    let user = serde_json::json!({ "company_id": 1, "email": 2, "first_name": "A", "last_name": "B" });
    let post = provider.post("/v1/users", &user);
    let put = provider
        .put(&format!("/v1/users/{}", company.user(1)), &serde_json::json!({ "first_name": "Grace" }));
    vec![
        provider.get(&format!("/v1/users/{}", company.user(0))),
        provider.get(&format!("/v1/users/{}/transactions?type=user_wallet&per_page=3", company.user(0))),
        provider.get("/v1/nothing"),
        in_chunks(&post),
        in_chunks(&put),
        post,
        put,
        b"DELETE /v1/users/00000000-0000-7000-8000-000000000000 HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
    ]
}

/// Concatenates some requests and damages a few places. Returns the bytes and the number of requests.
fn damaged(sound: &[Vec<u8>], dice: &mut Dice) -> (Vec<u8>, u32) {
    let (mut stream, mut requests) = (Vec::new(), 0);
    for _ in 0..=dice.below(PIPELINED) {
        stream.extend_from_slice(dice.one_of(sound).map_or(&[][..], Vec::as_slice));
        requests += 1;
    }
    for _ in 0..dice.below(4) {
        damage(&mut stream, dice);
    }
    (stream, requests)
}

fn damage(stream: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.index(stream.len());
    let line = |stream: &[u8]| {
        let start = stream.get(..at)?.iter().rposition(|byte| *byte == b'\n')? + 1;
        let end = at + stream.get(at..)?.iter().position(|byte| *byte == b'\n')? + 1;
        Some(start..end)
    };
    match dice.below(8) {
        0 => stream.truncate(at),
        1 => drop(stream.drain(at..(at + dice.index(8) + 1).min(stream.len()))),
        2 => {
            let byte = u8::try_from(dice.below(256)).unwrap_or_default();
            stream.insert(at, byte);
        }
        3 => {
            let flipped = 1_u8 << dice.below(8);
            if let Some(byte) = stream.get_mut(at) {
                *byte ^= flipped;
            }
        }
        4 => {
            if let Some(line) = line(stream) {
                let again = stream.get(line.clone()).unwrap_or_default().to_vec();
                stream.splice(line.start..line.start, again);
            }
        }
        5 => {
            if let Some(line) = line(stream) {
                let bait = dice.one_of(&BAITS).map_or(&[][..], |bait| bait.as_bytes());
                stream.splice(line.start..line.start, bait.iter().copied());
            }
        }
        _ => {
            let bait = dice.one_of(&BAITS).map_or(&[][..], |bait| bait.as_bytes());
            stream.splice(at..at, bait.iter().copied());
        }
    }
}

/// Sends a stream whole, then in pieces. Returns the number of responses, which must be equal.
fn twice(https: &Https, from: Ipv4Addr, stream: &[u8], dice: &mut Dice) -> Result<u32> {
    let announces_end = dice.below(2) == 0;
    let whole = responses(&exchange(https, from, &[stream], announces_end)?)?;
    let mut pieces = Vec::new();
    let mut rest = stream;
    while !rest.is_empty() {
        let most = if dice.below(2) == 0 { 3 } else { 200 };
        let length = (dice.index(most) + 1).min(rest.len());
        let (piece, left) = rest.split_at(length);
        pieces.push(piece);
        rest = left;
    }
    let in_pieces = responses(&exchange(https, from, &pieces, announces_end)?)?;
    ensure!(
        whole == in_pieces,
        "whole it is answered {whole:?}, in pieces {in_pieces:?} (end announced in TLS: {announces_end})"
    );
    Ok(u32::try_from(whole.len()).unwrap_or(u32::MAX))
}

/// Returns everything received until the service closes the connection.
fn exchange(https: &Https, from: Ipv4Addr, pieces: &[&[u8]], announces_end: bool) -> Result<Vec<u8>> {
    let mut connection = https.connect_from(from)?;
    connection.patience(PATIENCE)?;
    connection.shake_hands()?;
    for piece in pieces {
        if connection.send(piece).is_err() {
            break; // closed by the service: its responses can still be read
        }
    }
    let _said_more_than_was_read = if announces_end { connection.finish() } else { connection.shut() };
    let (mut all, mut room) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        match connection.receive(&mut room) {
            Ok([]) => return Ok(all),
            Ok(some) => all.extend_from_slice(some),
            Err(cause) => return Err(cause.context(format!("behind {} bytes of answers", all.len()))),
        }
    }
}

/// Parses responses, each of which must be one that the API defines.
fn responses(mut bytes: &[u8]) -> Result<Vec<Response>> {
    let mut responses = Vec::new();
    while !bytes.is_empty() {
        let end =
            bytes.windows(4).position(|window| window == b"\r\n\r\n").context("an answer without an end")?;
        let (head, rest) = bytes.split_at(end + 4);
        let head = std::str::from_utf8(head)?.to_ascii_lowercase();
        bytes = rest;
        if head == "http/1.1 100 continue\r\n\r\n" {
            continue;
        }
        let line = head.strip_prefix("http/1.1 ").or(head.strip_prefix("http/1.0 "));
        let line = line.with_context(|| format!("no status line: {head}"))?;
        let status: u16 = line.get(..3).unwrap_or_default().parse()?;
        ensure!(STATUSES.contains(&status), "an undocumented status: {head}");
        let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        ensure!(value("x-request-id").is_some(), "no request id: {head}");
        ensure!(value("cache-control") == Some("no-store"), "may be kept: {head}");
        let length = value("content-length").map_or(Ok(0), str::parse::<usize>)?;
        let (body, rest) = bytes.split_at_checked(length).context("a body that was cut")?;
        bytes = rest;
        if status >= 400 && length > 0 {
            let said: Value = serde_json::from_slice(body)?;
            ensure!(said.is_object(), "a refusal that is no object: {said}");
        }
        responses.push(Response { status, closes: value("connection") == Some("close") });
    }
    Ok(responses)
}

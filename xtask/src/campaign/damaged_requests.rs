//! Sends randomly damaged requests and checks the responses.
//!
//! Each stream of bytes is sent twice: whole, and in pieces. Both must get the same responses, and every response must
//! be one that the API defines. A stream without damage must get one response to each request. The client closes its
//! side in TLS and TCP, or in TCP alone, before it reads the responses.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use guerdon_test_harness::HttpsClient;
use guerdon_test_support::Random;
use serde_json::Value;

use super::context::AttackContext;
use super::report::Measurement;
use super::victim::Victim;

const THREADS: u8 = 8;
/// Each stream picks one of these as its maximum number of requests. The client reads responses only after it has sent
/// everything, so the responses to a hundred must fit into the buffers of a connection.
const PIPELINED_MAX_CHOICES: [u64; 4] = [4, 4, 4, 100];
/// Each piece of a stream picks one of these as its maximum length, in bytes.
const PIECE_LENGTH_MAX_CHOICES: [usize; 3] = [3, 200, 4_000];
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(20);
const STATUSES: [u16; 10] = [200, 201, 204, 303, 400, 401, 403, 404, 405, 503];
/// Inputs on which HTTP parsers have failed.
const TRICKY_INPUTS: [&str; 34] = [
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

/// A response in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ParsedResponse {
    status: u16,
    /// Whether the response announces that the connection closes (`connection: close`).
    closes: bool,
}

/// Lifts the limit of failed logins, so that damaged credentials always get their regular response.
pub(super) fn extra_settings() -> Vec<(&'static str, String)> {
    vec![("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "0".to_owned())]
}

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let victim = Victim::create(context.service)?;
    let templates = valid_requests(&victim);
    let (request_count, response_count) = (AtomicU32::new(0), AtomicU32::new(0));
    let (https, start, has_failed) = (context.service.https(), Instant::now(), AtomicBool::new(false));
    std::thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let mut random =
                    Random(context.setup.seed.wrapping_mul(1_000).wrapping_add(u64::from(thread)));
                let (templates, request_count, response_count, has_failed) =
                    (&templates, &request_count, &response_count, &has_failed);
                // Each thread has its own address, because handshakes per address are limited.
                let from = Ipv4Addr::new(127, 0, 6, thread + 1);
                scope.spawn(move || -> Result<()> {
                    while start.elapsed() < context.setup.duration && !has_failed.load(Ordering::Relaxed) {
                        let stream = RequestStream::generate(templates, &mut random);
                        let count = send_whole_and_in_pieces(https, from, &stream, &mut random)
                            .with_context(|| {
                                has_failed.store(true, Ordering::Relaxed);
                                let (seconds, sent) =
                                    (start.elapsed().as_secs(), String::from_utf8_lossy(&stream.bytes));
                                format!("after {seconds} s and after sending {sent:?}")
                            })?;
                        request_count.fetch_add(stream.request_count, Ordering::Relaxed);
                        response_count.fetch_add(count, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        for thread in threads {
            let Ok(result) = thread.join() else { bail!("a thread that fuzzes panicked") };
            result?;
        }
        Ok(())
    })?;
    Ok(vec![
        Measurement::without_bound("fuzzed requests", request_count.into_inner().to_string()),
        Measurement::without_bound(
            "responses, each valid and the same in pieces",
            response_count.into_inner().to_string(),
        ),
    ])
}

/// Returns valid requests to damage.
fn valid_requests(victim: &Victim<'_>) -> Vec<Vec<u8>> {
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
    // Two fields are invalid, so that no damage makes the request valid. A valid request would create a user, and the
    // second response would differ.
    let user = serde_json::json!({ "company_id": 1, "email": 2, "first_name": "A", "last_name": "B" });
    let post = provider.post_request("/v1/users", &user);
    let put = provider.put_request(
        &format!("/v1/users/{}", company.user_id(1)),
        &serde_json::json!({ "first_name": "Grace" }),
    );
    vec![
        provider.get_request(&format!("/v1/users/{}", company.user_id(0))),
        provider.get_request(&format!(
            "/v1/users/{}/transactions?type=user_wallet&per_page=3",
            company.user_id(0)
        )),
        provider.get_request("/v1/nothing"),
        in_chunks(&post),
        in_chunks(&put),
        post,
        put,
        b"DELETE /v1/users/00000000-0000-7000-8000-000000000000 HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
    ]
}

/// Requests that are sent on one connection.
struct RequestStream {
    bytes: Vec<u8>,
    request_count: u32,
    is_damaged: bool,
}

impl RequestStream {
    /// Concatenates some requests and damages at most three places.
    fn generate(templates: &[Vec<u8>], random: &mut Random) -> Self {
        let (mut bytes, mut request_count) = (Vec::new(), 0);
        let count_max = *random.one_of(&PIPELINED_MAX_CHOICES);
        for _ in 0..=random.number_below(count_max) {
            bytes.extend_from_slice(random.one_of::<Vec<u8>>(templates));
            request_count += 1;
        }
        let damaged_places = random.number_below(4);
        for _ in 0..damaged_places {
            damage_stream(&mut bytes, random);
        }
        Self { bytes, request_count, is_damaged: damaged_places > 0 }
    }
}

fn damage_stream(stream: &mut Vec<u8>, random: &mut Random) {
    let offset = random.index_below(stream.len());
    let line = |stream: &[u8]| {
        let start = stream.get(..offset)?.iter().rposition(|byte| *byte == b'\n')? + 1;
        let end = offset + stream.get(offset..)?.iter().position(|byte| *byte == b'\n')? + 1;
        Some(start..end)
    };
    match random.number_below(8) {
        0 => stream.truncate(offset),
        1 => drop(stream.drain(offset..(offset + random.index_below(8) + 1).min(stream.len()))),
        2 => {
            let byte = u8::try_from(random.number_below(256)).unwrap_or_default();
            stream.insert(offset, byte);
        }
        3 => {
            let flipped = 1_u8 << random.number_below(8);
            if let Some(byte) = stream.get_mut(offset) {
                *byte ^= flipped;
            }
        }
        4 => {
            if let Some(line) = line(stream) {
                let copy = stream.get(line.clone()).unwrap_or_default().to_vec();
                stream.splice(line.start..line.start, copy);
            }
        }
        5 => {
            if let Some(line) = line(stream) {
                let input = random.one_of(&TRICKY_INPUTS).as_bytes();
                stream.splice(line.start..line.start, input.iter().copied());
            }
        }
        _ => {
            let input = random.one_of(&TRICKY_INPUTS).as_bytes();
            stream.splice(offset..offset, input.iter().copied());
        }
    }
}

/// Sends a stream whole, then in pieces. Returns the number of responses, which must be the same for both.
fn send_whole_and_in_pieces(
    https: &HttpsClient,
    from: Ipv4Addr,
    stream: &RequestStream,
    random: &mut Random,
) -> Result<u32> {
    let announces_end = random.number_below(2) == 0;
    let whole = parse_responses(&exchange_bytes(https, from, &[&stream.bytes], announces_end)?)?;
    let response_count = u32::try_from(whole.len()).unwrap_or(u32::MAX);
    ensure!(
        stream.is_damaged || response_count == stream.request_count,
        "{response_count} responses to {} valid requests: {whole:?}",
        stream.request_count
    );
    let mut pieces = Vec::new();
    let mut remaining = stream.bytes.as_slice();
    while !remaining.is_empty() {
        let length_max = *random.one_of(&PIECE_LENGTH_MAX_CHOICES);
        let length = (random.index_below(length_max) + 1).min(remaining.len());
        let (piece, after) = remaining.split_at(length);
        pieces.push(piece);
        remaining = after;
    }
    let in_pieces = parse_responses(&exchange_bytes(https, from, &pieces, announces_end)?)?;
    ensure!(
        whole == in_pieces,
        "response to the whole stream {whole:?}, to its pieces {in_pieces:?} (end announced in TLS: {announces_end})"
    );
    Ok(response_count)
}

/// Returns everything received until the service closes the connection.
fn exchange_bytes(
    https: &HttpsClient,
    from: Ipv4Addr,
    pieces: &[&[u8]],
    announces_end: bool,
) -> Result<Vec<u8>> {
    let mut connection = https.connect_with_io_timeout(from, CONNECTION_TIMEOUT)?;
    for piece in pieces {
        if connection.send_bytes(piece).is_err() {
            break; // closed by the service: its responses can still be read
        }
    }
    let _closed_early = if announces_end { connection.close_sending() } else { connection.shutdown_tcp() };
    let (mut all, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        match connection.receive_bytes(&mut buffer) {
            Ok([]) => return Ok(all),
            Ok(bytes) => all.extend_from_slice(bytes),
            Err(error) => return Err(error.context(format!("after {} bytes of responses", all.len()))),
        }
    }
}

/// Parses responses, each of which must be one that the API defines.
fn parse_responses(mut bytes: &[u8]) -> Result<Vec<ParsedResponse>> {
    let mut responses = Vec::new();
    while !bytes.is_empty() {
        let end =
            bytes.windows(4).position(|window| window == b"\r\n\r\n").context("a response without an end")?;
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
        ensure!(value("cache-control") == Some("no-store"), "cacheable: {head}");
        let length = value("content-length").map_or(Ok(0), str::parse::<usize>)?;
        let (body, rest) = bytes.split_at_checked(length).context("a truncated body")?;
        bytes = rest;
        if status >= 400 && length > 0 {
            let error: Value = serde_json::from_slice(body)?;
            ensure!(error.is_object(), "an error that is not an object: {error}");
        }
        responses.push(ParsedResponse { status, closes: value("connection") == Some("close") });
    }
    Ok(responses)
}

//! How fast events are delivered to a receiver on this machine, beside a bare loop that sends the same.
//!
//!     cargo run --release -p guerdon-webhook-dispatcher --example throughput -- EVENTS PROVIDERS SETTLE_MICROS IN_FLIGHT BRISK BRISK_MS
//!
//! The journal is in memory; each of its transactions takes SETTLE_MICROS, as a database would.
#![expect(clippy::unwrap_used, reason = "a measurement may end where it fails")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use guerdon_domain::ports::{
    Claim, Claimed, ClaimedEvent, Clock, Fate, Ids, Processes, Settlement, StoreError, Timestamp, Wake,
};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, ProviderId};
use guerdon_webhook_dispatcher::{
    Dispatcher, DispatcherLimits, HttpCourier, HttpCourierParts, Journal, Look, NoObserver, Nonces,
    OpenSecret, Policy, Schedule, SystemNonces, UnreadableSecret,
};
use guerdon_webhooks::sign;
use time::macros::datetime;
use uuid::Uuid;
use zeroize::Zeroizing;

const BODY: &[u8] = &[b'x'; 600];
const NOW: Timestamp = Timestamp::new(datetime!(2026-11-20 20:01:02.345 UTC));

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        NOW
    }
}

#[derive(Default)]
struct Counting(AtomicU64);

impl Ids for Counting {
    fn next(&self) -> Uuid {
        Uuid::from_u128(self.0.fetch_add(1, Ordering::Relaxed).into())
    }
}

struct Known;

impl OpenSecret for Known {
    fn open(&self, _provider: &Provider) -> Result<Zeroizing<String>, UnreadableSecret> {
        Ok(Zeroizing::new("whsec_1".to_owned()))
    }
}

struct Memory {
    url: String,
    takes: Duration,
    waiting: Mutex<BTreeMap<ProviderId, VecDeque<EventId>>>,
    delivered: Mutex<usize>,
    changed: Condvar,
    transactions: AtomicUsize,
}

impl Memory {
    fn take_time(&self) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        if !self.takes.is_zero() {
            thread::sleep(self.takes); // tidy: stands for the disk that a database waits for
        }
    }
}

impl Journal for Memory {
    fn claim_due(
        &self,
        _now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<Claim>,
    ) -> Result<Look, StoreError> {
        self.take_time();
        let mut waiting = self.waiting.lock().unwrap();
        let due = waiting.iter().filter(|(_, it)| !it.is_empty()).map(|(id, _)| *id);
        let providers: Vec<_> = due.collect();
        let mut claimed = Vec::new();
        for claim in plan(&providers) {
            let events = waiting.get_mut(&claim.provider).unwrap();
            let count = events.len().min(claim.limit.into());
            let events = events.drain(..count).map(|id| ClaimedEvent {
                company_id: CompanyId::from_uuid(Uuid::nil()),
                id,
                body: BODY.to_vec(),
                attempts: 0,
                attempts_before_replay: 0,
            });
            claimed.push(Claimed { provider: provider(claim.provider, &self.url), events: events.collect() });
        }
        Ok(Look { providers, claimed, next: None })
    }

    /// What waits here has no time.
    fn bring_back(
        &self,
        _now: Timestamp,
        _waits: &[Duration],
        _lease: Duration,
    ) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn settle(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.take_time();
        let delivered = settlements.iter().filter(|it| it.fate == Fate::Delivered).count();
        for settlement in settlements.iter().filter(|it| it.fate != Fate::Delivered) {
            if let Some(attempt) = &settlement.attempt {
                eprintln!("failed after {:?}: {:?}", attempt.duration, attempt.cause);
            }
            let owner = ProviderId::from_uuid(Uuid::from_u128(settlement.event.as_uuid().as_u128() >> 64));
            self.waiting.lock().unwrap().get_mut(&owner).unwrap().push_back(settlement.event);
        }
        *self.delivered.lock().unwrap() += delivered;
        self.changed.notify_all();
        Ok(())
    }
}

fn provider(id: ProviderId, url: &str) -> Provider {
    Provider {
        id,
        name: String::new(),
        api_key: String::new(),
        api_secret_hash: Vec::new(),
        shared_secret_sealed: Vec::new(),
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: Some(url.to_owned()),
        manages_all_domain_resources: false,
        suspended: false,
        created_at: NOW,
    }
}

/// Answers every request with 200, as fast as it can.
fn receive() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer_all(stream));
        }
    });
    address
}

fn answer_all(stream: TcpStream) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(&stream);
    let mut line = String::new();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            reader.read_exact(&mut vec![0; length]).unwrap();
            (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
        }
    }
}

fn rate(events: u32, took: Duration) -> f64 {
    f64::from(events) / took.as_secs_f64()
}

fn bare_loop(events: u32, url: &str) -> f64 {
    let agent = ureq::Agent::new_with_defaults();
    let nonces = SystemNonces::default();
    let started = Instant::now();
    for _ in 0..events {
        let nonce = format!("{:032x}", u128::from_be_bytes(nonces.next().unwrap()));
        let signature = sign("whsec_1", url, "2026-11-20T20:01:02.345Z", &nonce, BODY);
        let request =
            agent.post(url).header("X-Service-Signature", signature).header("X-Service-Nonce", nonce);
        request.send(BODY).unwrap().body_mut().read_to_vec().unwrap();
    }
    rate(events, started.elapsed())
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|it| it.parse::<u32>().unwrap());
    let events = arguments.next().unwrap_or(20_000);
    let providers = arguments.next().unwrap_or(1);
    let takes = Duration::from_micros(arguments.next().unwrap_or(1_000).into());
    let in_flight = arguments.next();
    let brisk = arguments.next();
    let brisk_within = arguments.next();
    let url = format!("http://{}/hook", receive());
    let bare = bare_loop(events, &url);

    let mut waiting: BTreeMap<_, VecDeque<_>> = BTreeMap::new();
    for event in 0..events {
        let owner = u128::from(event % providers);
        let id = EventId::from_uuid(Uuid::from_u128(owner << 64 | u128::from(event)));
        waiting.entry(ProviderId::from_uuid(Uuid::from_u128(owner))).or_default().push_back(id);
    }
    let journal = Arc::new(Memory {
        url,
        takes,
        waiting: Mutex::new(waiting),
        delivered: Mutex::new(0),
        changed: Condvar::new(),
        transactions: AtomicUsize::new(0),
    });
    let policy = Policy { allow_http: true, allow_private_networks: true };
    let mut limits = DispatcherLimits::default();
    if let Some(in_flight) = in_flight {
        limits.in_flight_per_provider = usize::try_from(in_flight).unwrap();
    }
    if let Some(brisk) = brisk {
        limits.brisk_senders = usize::try_from(brisk).unwrap();
    }
    limits.brisk_within = brisk_within.map_or(limits.brisk_within, |it| Duration::from_millis(it.into()));
    let dispatcher = Dispatcher {
        journal: Arc::<Memory>::clone(&journal),
        courier: Arc::new(
            HttpCourier::new(HttpCourierParts::new(policy, Arc::new(Known), Arc::new(Still))).unwrap(),
        ),
        clock: Arc::new(Still),
        ids: Arc::new(Counting::default()),
        schedule: Schedule::default(),
        limits,
        observer: Arc::new(NoObserver),
        wake: Wake::default(),
        processes: Processes::default(),
    };
    let started = Instant::now();
    let running = dispatcher.start().unwrap();
    let all = usize::try_from(events).unwrap();
    let delivered = journal.delivered.lock().unwrap();
    drop(journal.changed.wait_while(delivered, |it| *it < all).unwrap());
    let dispatched = rate(events, started.elapsed());
    let stopped = running.stop(Duration::from_secs(15));
    println!("a bare loop: {bare:.0} events/s");
    println!("the dispatcher: {dispatched:.0} events/s, {:.2} times as many", dispatched / bare);
    println!(
        "{} transactions, {} abandoned",
        journal.transactions.load(Ordering::Relaxed),
        stopped.abandoned
    );
}

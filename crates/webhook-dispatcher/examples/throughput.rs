//! Measures how fast events are delivered to a local receiver, compared with a plain loop that sends the same requests.
//!
//!     cargo run --release -p guerdon-webhook-dispatcher --example throughput -- \
//!         EVENTS PROVIDERS SETTLE_MICROS IN_FLIGHT FAST_SENDERS FAST_MS
//!
//! The delivery store is in memory; each of its transactions takes SETTLE_MICROS, as a database would.
#![expect(clippy::unwrap_used, reason = "a failed measurement may panic")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use guerdon_domain::ports::{
    ClaimRequest, ClaimedBatch, ClaimedEvent, Clock, DeliveryOutcome, IdGenerator, Notifier, ProcessCount,
    Settlement, StoreError, Timestamp,
};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{CompanyId, EventId, ProviderId};
use guerdon_webhook_dispatcher::{
    ClaimResult, DecryptSecrets, DeliveryStore, Dispatcher, DispatcherLimits, EgressPolicy, HttpSender,
    HttpSenderParts, NoObserver, NonceSource, RetrySchedule, SharedSecrets, SystemNonces, UnreadableSecret,
};
use guerdon_webhooks::sign;
use time::macros::datetime;
use uuid::Uuid;
use zeroize::Zeroizing;

const BODY: &[u8] = &[b'x'; 600];
const NOW: Timestamp = Timestamp::new(datetime!(2026-11-20 20:01:02.345 UTC));

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        NOW
    }
}

#[derive(Default)]
struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn next_id(&self) -> Uuid {
        Uuid::from_u128(self.0.fetch_add(1, Ordering::Relaxed).into())
    }
}

struct FixedSecret;

impl DecryptSecrets for FixedSecret {
    fn decrypt_secrets(&self, _provider: &Provider) -> Result<SharedSecrets, UnreadableSecret> {
        Ok(SharedSecrets { current: Zeroizing::new("whsec_1".to_owned()), former: None })
    }
}

struct MemoryStore {
    url: String,
    transaction_time: Duration,
    pending: Mutex<BTreeMap<ProviderId, VecDeque<EventId>>>,
    delivered: Mutex<usize>,
    changed: Condvar,
    transactions: AtomicUsize,
}

impl MemoryStore {
    fn take_time(&self) {
        self.transactions.fetch_add(1, Ordering::Relaxed);
        if !self.transaction_time.is_zero() {
            thread::sleep(self.transaction_time); // tidy: simulates a database that waits for its disk
        }
    }
}

impl DeliveryStore for MemoryStore {
    fn claim_due_events(
        &self,
        _now: Timestamp,
        plan: &mut dyn FnMut(&[ProviderId]) -> Vec<ClaimRequest>,
    ) -> Result<ClaimResult, StoreError> {
        self.take_time();
        let mut pending = self.pending.lock().unwrap();
        let due = pending.iter().filter(|(_, events)| !events.is_empty()).map(|(id, _)| *id);
        let providers: Vec<_> = due.collect();
        let mut claimed = Vec::new();
        for claim in plan(&providers) {
            let events = pending.get_mut(&claim.provider).unwrap();
            let count = events.len().min(claim.limit.into());
            let events = events.drain(..count).map(|id| ClaimedEvent {
                company_id: CompanyId::from_uuid(Uuid::nil()),
                id,
                body: BODY.to_vec(),
                attempts: 0,
                attempts_before_replay: 0,
            });
            claimed.push(ClaimedBatch {
                provider: build_provider(claim.provider, &self.url),
                events: events.collect(),
            });
        }
        Ok(ClaimResult { due_providers: providers, claimed, next_due: None })
    }

    /// The events of this store have no due times.
    fn reschedule_after_clock_change(
        &self,
        _now: Timestamp,
        _waits: &[Duration],
        _lease: Duration,
    ) -> Result<usize, StoreError> {
        Ok(0)
    }

    fn record_settlements(&self, settlements: &[Settlement]) -> Result<(), StoreError> {
        self.take_time();
        let delivered =
            settlements.iter().filter(|settlement| settlement.outcome == DeliveryOutcome::Delivered).count();
        for settlement in
            settlements.iter().filter(|settlement| settlement.outcome != DeliveryOutcome::Delivered)
        {
            if let Some(attempt) = &settlement.attempt {
                eprintln!("failed after {:?}: {:?}", attempt.duration, attempt.error);
            }
            let provider = ProviderId::from_uuid(Uuid::from_u128(settlement.event.as_uuid().as_u128() >> 64));
            self.pending.lock().unwrap().get_mut(&provider).unwrap().push_back(settlement.event);
        }
        *self.delivered.lock().unwrap() += delivered;
        self.changed.notify_all();
        Ok(())
    }
}

fn build_provider(id: ProviderId, url: &str) -> Provider {
    Provider {
        id,
        name: String::new(),
        api_key: String::new(),
        api_secret_hash: Vec::new(),
        encrypted_shared_secret: Vec::new(),
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: Some(url.to_owned()),
        manages_all_domain_resources: false,
        suspended: false,
        created_at: NOW,
    }
}

/// Responds to every request with 200, as fast as possible.
fn start_receiver() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve_connection(stream));
        }
    });
    address
}

fn serve_connection(stream: TcpStream) {
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

fn events_per_second(events: u32, duration: Duration) -> f64 {
    f64::from(events) / duration.as_secs_f64()
}

fn run_bare_loop(events: u32, url: &str) -> f64 {
    let agent = ureq::Agent::new_with_defaults();
    let nonces = SystemNonces::default();
    let started = Instant::now();
    for _ in 0..events {
        let nonce = format!("{:032x}", u128::from_be_bytes(nonces.next_nonce().unwrap()));
        let signature = sign("whsec_1", url, "2026-11-20T20:01:02.345Z", &nonce, BODY);
        let request =
            agent.post(url).header("X-Service-Signature", signature).header("X-Service-Nonce", nonce);
        request.send(BODY).unwrap().body_mut().read_to_vec().unwrap();
    }
    events_per_second(events, started.elapsed())
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u32>().unwrap());
    let events = arguments.next().unwrap_or(20_000);
    let providers = arguments.next().unwrap_or(1);
    let transaction_time = Duration::from_micros(arguments.next().unwrap_or(1_000).into());
    let in_flight = arguments.next();
    let fast_senders = arguments.next();
    let fast_latency_millis = arguments.next();
    let url = format!("http://{}/hook", start_receiver());
    let bare_rate = run_bare_loop(events, &url);

    let mut pending: BTreeMap<_, VecDeque<_>> = BTreeMap::new();
    for event in 0..events {
        let provider = u128::from(event % providers);
        let id = EventId::from_uuid(Uuid::from_u128(provider << 64 | u128::from(event)));
        pending.entry(ProviderId::from_uuid(Uuid::from_u128(provider))).or_default().push_back(id);
    }
    let store = Arc::new(MemoryStore {
        url,
        transaction_time,
        pending: Mutex::new(pending),
        delivered: Mutex::new(0),
        changed: Condvar::new(),
        transactions: AtomicUsize::new(0),
    });
    let policy = EgressPolicy { allow_http: true, allow_private_networks: true };
    let mut limits = DispatcherLimits::default();
    if let Some(in_flight) = in_flight {
        limits.in_flight_per_provider = usize::try_from(in_flight).unwrap();
    }
    if let Some(fast_senders) = fast_senders {
        limits.fast_senders = usize::try_from(fast_senders).unwrap();
    }
    limits.fast_latency_max =
        fast_latency_millis.map_or(limits.fast_latency_max, |millis| Duration::from_millis(millis.into()));
    let dispatcher = Dispatcher {
        store: Arc::<MemoryStore>::clone(&store),
        sender: Arc::new(
            HttpSender::new(HttpSenderParts::new(policy, Arc::new(FixedSecret), Arc::new(FixedClock)))
                .unwrap(),
        ),
        clock: Arc::new(FixedClock),
        ids: Arc::new(SequentialIds::default()),
        schedule: RetrySchedule::default(),
        limits,
        observer: Arc::new(NoObserver),
        wake: Notifier::default(),
        processes: ProcessCount::default(),
    };
    let started = Instant::now();
    let running = dispatcher.start().unwrap();
    let all = usize::try_from(events).unwrap();
    let delivered = store.delivered.lock().unwrap();
    drop(store.changed.wait_while(delivered, |delivered| *delivered < all).unwrap());
    let dispatched_rate = events_per_second(events, started.elapsed());
    let stopped = running.stop(Duration::from_secs(15));
    println!("plain loop: {bare_rate:.0} events/s");
    println!(
        "dispatcher: {dispatched_rate:.0} events/s, {:.2} times the rate of the plain loop",
        dispatched_rate / bare_rate
    );
    println!("{} transactions, {} abandoned", store.transactions.load(Ordering::Relaxed), stopped.abandoned);
}

//! Sends bodies of many small objects from three providers at once, while large pages are requested and not read.
//! Parsing must neither take many times the size of a body nor delay other clients.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use guerdon_test_harness::{HttpsClient, HttpsConnection};

use super::context::{AttackContext, lower_priority};
use super::neighbour::{create_noisy_provider, p99_max};
use super::report::Measurement;
use super::victim::Victim;
use crate::measurement::fixture::Provider;
use crate::measurement::percentiles::to_f64;

const PROVIDERS: u8 = 3;
/// Connections per provider that request a large page and do not read it.
const READERS: usize = 40;
/// Bodies per provider that are sent at once: number and size.
const BURSTS: [(usize, usize); 2] = [(100, 64 << 10), (12, 1 << 20)];
/// Connections that then send large bodies one after the other while another client is measured.
const SENDERS: usize = 8;
const MEMORY_MIB_MAX: f64 = 200.0;

struct NoisyProviders<'a> {
    https: &'a HttpsClient,
    providers: Vec<(Provider, String)>,
    served: AtomicUsize,
    refused: AtomicUsize,
}

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let (service, period) = (context.service, context.period(2));
    let providers = (0..PROVIDERS).map(|number| create_noisy_provider(service, &format!("noisy-{number}")));
    let providers = NoisyProviders {
        https: service.https(),
        providers: providers.collect::<Result<_>>()?,
        served: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
    };
    let victim = Victim::create(service)?;
    victim.measure_for(Duration::from_secs(2))?; // warm-up
    let before = victim.measure_for(period)?;
    let readers = providers.open_readers()?;
    let with_readers = service.memory_peak()? >> 20;
    for (number, bytes) in BURSTS {
        providers.send_at_once(number, bytes)?;
    }
    let with_bursts = service.memory_peak()? >> 20;
    drop(readers);
    let ended = AtomicBool::new(false);
    let during = std::thread::scope(|scope| {
        let senders = scope.spawn(|| providers.send_until_ended(&ended));
        std::thread::sleep(Duration::from_secs(1));
        let during = victim.measure_for(period);
        ended.store(true, Ordering::Relaxed);
        senders.join().unwrap_or_else(|_panic| bail!("a sender panicked"))?;
        during
    })?;
    let peak = f64::from(u32::try_from(service.memory_peak()? >> 20).unwrap_or(u32::MAX));
    Ok(vec![
        Measurement::without_bound("memory with readers", format!("{with_readers} MiB")),
        Measurement::without_bound("memory after the bursts", format!("{with_bursts} MiB")),
        Measurement::at_most("memory", peak, MEMORY_MIB_MAX, " MiB"),
        Measurement::without_bound(
            "bodies served",
            format!("{}", to_f64(providers.served.load(Ordering::Relaxed))),
        ),
        Measurement::at_most("bodies refused", to_f64(providers.refused.load(Ordering::Relaxed)), 0.0, ""),
        Measurement::without_bound("another client's p99 before", format!("{:.1?}", before.times.p99)),
        Measurement::duration_below("  under load", during.times.p99, p99_max(context.setup.database)),
        Measurement::at_most("  refused", to_f64(during.refused), 0.0, ""),
    ])
}

impl NoisyProviders<'_> {
    /// Connects from the address of this provider.
    fn connect(&self, provider: usize) -> Result<HttpsConnection> {
        let last = u8::try_from(provider + 1).unwrap_or(u8::MAX);
        self.https.connect_from(Ipv4Addr::new(127, 0, 4, last))
    }

    fn open_readers(&self) -> Result<Vec<HttpsConnection>> {
        let mut readers = Vec::new();
        for (number, (provider, path)) in self.providers.iter().enumerate() {
            for _ in 0..READERS {
                let mut connection = self.connect(number)?;
                connection.send_bytes(&provider.get_request(path))?;
                readers.push(connection);
            }
        }
        Ok(readers)
    }

    /// Sends `number` bodies of `bytes` bytes from each provider, all at the same time.
    fn send_at_once(&self, number: usize, bytes: usize) -> Result<()> {
        let (body, never) = (&small_objects_body(bytes), &AtomicBool::new(false));
        std::thread::scope(|scope| {
            let senders: Vec<_> = (0..number * usize::from(PROVIDERS))
                .map(|number| scope.spawn(move || self.send_bodies(number, body, 1, never)))
                .collect();
            senders
                .into_iter()
                .try_for_each(|sender| sender.join().unwrap_or_else(|_panic| bail!("a sender panicked")))
        })
    }

    /// Sends large bodies one after the other on a few connections.
    fn send_until_ended(&self, ended: &AtomicBool) -> Result<()> {
        let body = &small_objects_body(1 << 20);
        std::thread::scope(|scope| {
            let senders: Vec<_> = (0..SENDERS)
                .map(|number| scope.spawn(move || self.send_bodies(number, body, usize::MAX, ended)))
                .collect();
            senders
                .into_iter()
                .try_for_each(|sender| sender.join().unwrap_or_else(|_panic| bail!("a sender panicked")))
        })
    }

    fn send_bodies(&self, number: usize, body: &str, times: usize, ended: &AtomicBool) -> Result<()> {
        lower_priority();
        let provider = number % self.providers.len();
        let (provider_client, path) = self.providers.get(provider).context("no provider")?;
        let user = path.split('/').nth(3).context("a path without a user")?;
        let request = provider_client.put_text(&format!("/v1/users/{user}"), body);
        let mut connection = self.connect(provider)?;
        for _ in 0..times {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            let is_served = connection.send_request(&request)?.status == 200;
            let counter = if is_served { &self.served } else { &self.refused };
            counter.fetch_add(1, Ordering::Relaxed);
            if !is_served {
                connection = self.connect(provider)?; // refusing a large body closes the connection
            }
        }
        Ok(())
    }
}

/// Returns a body of at most this many bytes, with as many objects in an unknown field as fit.
fn small_objects_body(bytes: usize) -> String {
    let (head, object, tail) = (r#"{"first_name":"Grace","x":["#, r#"{"":1},"#, r#"{"":1}]}"#);
    let number = (bytes - head.len() - tail.len()) / object.len();
    format!("{head}{}{tail}", object.repeat(number))
}

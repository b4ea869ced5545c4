//! Sends bodies of many small objects from three providers at once, while large pages are requested and not read.
//! Parsing must neither take many times the size of a body nor delay other clients.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::neighbour::{loud, p99_max};
use super::victim::{Victim, count};
use super::{Finding, Siege, stand_back};
use crate::harness::fixture::Provider;
use crate::harness::https::{Connection, Https};

const PROVIDERS: u8 = 3;
/// Connections per provider that request a large page and do not read it.
const READERS: usize = 40;
/// Bodies per provider that are sent at once: number and size.
const BURSTS: [(usize, usize); 2] = [(100, 64 << 10), (12, 1 << 20)];
/// Connections that then send large bodies one after the other while another client is measured.
const SENDERS: usize = 8;
const MEMORY_MAX_MIB: f64 = 200.0;

struct Crowd<'a> {
    https: &'a Https,
    providers: Vec<(Provider, String)>,
    served: AtomicUsize,
    refused: AtomicUsize,
}

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let service = siege.service;
    let providers = (0..PROVIDERS).map(|number| loud(service, &format!("loud-{number}")));
    let crowd = Crowd {
        https: service.https(),
        providers: providers.collect::<Result<_>>()?,
        served: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
    };
    let victim = Victim::settle(service)?;
    victim.go_on_for(Duration::from_secs(2))?; // warm-up
    let before = victim.go_on_for(siege.period)?;
    let readers = crowd.readers()?;
    let with_readers = service.memory_peak()? >> 20;
    for (number, bytes) in BURSTS {
        crowd.send_at_once(number, bytes)?;
    }
    let with_bursts = service.memory_peak()? >> 20;
    drop(readers);
    let ended = AtomicBool::new(false);
    let meanwhile = std::thread::scope(|scope| {
        let senders = scope.spawn(|| crowd.go_on(&ended));
        std::thread::sleep(Duration::from_secs(1));
        let meanwhile = victim.go_on_for(siege.period);
        ended.store(true, Ordering::Relaxed);
        senders.join().unwrap_or_else(|_panic| bail!("a sender panicked"))?;
        meanwhile
    })?;
    let peak = f64::from(u32::try_from(service.memory_peak()? >> 20).unwrap_or(u32::MAX));
    Ok(vec![
        Finding::told("memory with readers", format!("{with_readers} MiB")),
        Finding::told("memory after the bursts", format!("{with_bursts} MiB")),
        Finding::at_most("memory", peak, MEMORY_MAX_MIB, " MiB"),
        Finding::told("bodies served", format!("{}", count(crowd.served.load(Ordering::Relaxed)))),
        Finding::at_most("bodies refused", count(crowd.refused.load(Ordering::Relaxed)), 0.0, ""),
        Finding::told("another client's p99 before", format!("{:.1?}", before.times.p99)),
        Finding::within("  and meanwhile", meanwhile.times.p99, p99_max(siege.database)),
        Finding::at_most("  refused", count(meanwhile.refused), 0.0, ""),
    ])
}

impl Crowd<'_> {
    /// Connects from the address of this provider.
    fn connect(&self, provider: usize) -> Result<Connection> {
        let last = u8::try_from(provider + 1).unwrap_or(u8::MAX);
        let mut connection = self.https.connect_from(Ipv4Addr::new(127, 0, 4, last))?;
        connection.shake_hands()?;
        Ok(connection)
    }

    fn readers(&self) -> Result<Vec<Connection>> {
        let mut readers = Vec::new();
        for (number, (provider, path)) in self.providers.iter().enumerate() {
            for _ in 0..READERS {
                let mut connection = self.connect(number)?;
                connection.send(&provider.get(path))?;
                readers.push(connection);
            }
        }
        Ok(readers)
    }

    /// Sends `number` bodies of `bytes` bytes from each provider, all at the same time.
    fn send_at_once(&self, number: usize, bytes: usize) -> Result<()> {
        let (body, never) = (&small_objects(bytes), &AtomicBool::new(false));
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..number * usize::from(PROVIDERS))
                .map(|number| scope.spawn(move || self.send(number, body, 1, never)))
                .collect();
            all.into_iter()
                .try_for_each(|sender| sender.join().unwrap_or_else(|_panic| bail!("a sender panicked")))
        })
    }

    /// Sends large bodies one after the other on a few connections.
    fn go_on(&self, ended: &AtomicBool) -> Result<()> {
        let body = &small_objects(1 << 20);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..SENDERS)
                .map(|number| scope.spawn(move || self.send(number, body, usize::MAX, ended)))
                .collect();
            all.into_iter()
                .try_for_each(|sender| sender.join().unwrap_or_else(|_panic| bail!("a sender panicked")))
        })
    }

    fn send(&self, number: usize, body: &str, times: usize, ended: &AtomicBool) -> Result<()> {
        stand_back();
        let provider = number % self.providers.len();
        let (its, path) = self.providers.get(provider).context("no provider")?;
        let user = path.split('/').nth(3).context("a path without a user")?;
        let request = its.put_text(&format!("/v1/users/{user}"), body);
        let mut connection = self.connect(provider)?;
        for _ in 0..times {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            let is_served = connection.call(&request)?.status == 200;
            let counted = if is_served { &self.served } else { &self.refused };
            counted.fetch_add(1, Ordering::Relaxed);
            if !is_served {
                connection = self.connect(provider)?; // refusing a large body closes the connection
            }
        }
        Ok(())
    }
}

/// Returns a body of at most this many bytes, with as many objects in an unknown field as fit.
fn small_objects(bytes: usize) -> String {
    let (head, object, tail) = (r#"{"first_name":"Grace","x":["#, r#"{"":1},"#, r#"{"":1}]}"#);
    let number = (bytes - head.len() - tail.len()) / object.len();
    format!("{head}{}{tail}", object.repeat(number))
}

use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{
    CACHED_NAMES_MAX, DnsCache, HostResolver, LookupState, ResolveError, SystemResolver, THREADS_MAX,
};

const TIMEOUT: Duration = Duration::from_secs(60);
const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));

/// A resolver whose lookups of `held` names complete when the test decides. It panics for `panic.example`.
struct ScriptedResolver {
    lookup_count: AtomicUsize,
    started: Sender<String>,
    results: Mutex<Receiver<io::Result<Vec<IpAddr>>>>,
}

impl HostResolver for ScriptedResolver {
    fn resolve_host(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.lookup_count.fetch_add(1, Ordering::SeqCst);
        let _nobody_listens = self.started.send(name.to_owned());
        assert_ne!(name, "panic.example");
        match name.strip_prefix("held") {
            Some(_) => self.results.lock().unwrap().recv().unwrap(),
            None => Ok(vec![ADDRESS]),
        }
    }
}

struct Harness {
    resolver: Arc<ScriptedResolver>,
    cache: Arc<DnsCache>,
    started: Receiver<String>,
    result_sender: Sender<io::Result<Vec<IpAddr>>>,
}

/// A harness that does not cache results.
fn harness_without_cache() -> Harness {
    harness_with_ttl(Duration::ZERO)
}

fn harness_with_ttl(ttl: Duration) -> Harness {
    let (started_sender, started) = channel();
    let (result_sender, results) = channel();
    let resolver = Arc::new(ScriptedResolver {
        lookup_count: AtomicUsize::new(0),
        started: started_sender,
        results: Mutex::new(results),
    });
    let cache = Arc::new(DnsCache::new(Arc::<ScriptedResolver>::clone(&resolver), ttl));
    Harness { resolver, cache, started, result_sender }
}

#[test]
fn results_are_cached_briefly_and_failures_are_not() {
    let Harness { resolver, cache, result_sender, .. } = harness_with_ttl(TIMEOUT);
    for _ in 0..3 {
        assert_eq!(cache.resolve_host("a.example", TIMEOUT), Ok(vec![ADDRESS].into()));
    }
    assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), 1);
    for lookups in 2..=4 {
        result_sender.send(Ok(Vec::new())).unwrap();
        assert_eq!(cache.resolve_host("held.example", TIMEOUT), Err(ResolveError::NotFound));
        assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), lookups);
    }
}

#[test]
fn the_number_of_cached_results_is_limited() {
    let Harness { resolver, cache, .. } = harness_with_ttl(TIMEOUT);
    let all = CACHED_NAMES_MAX + 10;
    for number in 0..all {
        cache.resolve_host(&format!("a{number}.example"), TIMEOUT).unwrap();
    }
    cache.resolve_host("a0.example", TIMEOUT).unwrap();
    assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), all);
    for (number, lookups) in [(CACHED_NAMES_MAX, all + 1), (all - 1, all + 2)] {
        cache.resolve_host(&format!("a{number}.example"), TIMEOUT).unwrap();
        assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), lookups);
    }
}

#[test]
fn expired_results_make_room_for_others() {
    let (addresses, expired) = (Arc::from([ADDRESS]), Instant::now());
    let names = (0..CACHED_NAMES_MAX).map(|number| format!("a{number}.example"));
    let mut state = LookupState {
        cached: names.map(|name| (name, (expired, Arc::clone(&addresses)))).collect(),
        ..LookupState::default()
    };
    assert_eq!(state.cached_addresses("a0.example"), None);
    state.store_addresses("b.example", &addresses, TIMEOUT);
    assert_eq!(state.cached_addresses("b.example"), Some(addresses));
    assert_eq!(state.cached.len(), 1);
}

#[test]
fn a_name_is_resolved_again_without_a_cached_result() {
    let Harness { resolver, cache, .. } = harness_without_cache();
    for lookups in 1..=3 {
        assert_eq!(cache.resolve_host("a.example", TIMEOUT), Ok(vec![ADDRESS].into()));
        assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), lookups);
    }
}

#[test]
fn concurrent_requests_share_one_lookup() {
    let Harness { resolver, cache, started, result_sender } = harness_without_cache();
    let resolve = || {
        let cache = Arc::clone(&cache);
        thread::spawn(move || cache.resolve_host("held.example", TIMEOUT))
    };
    let first = resolve();
    assert_eq!(started.recv().unwrap(), "held.example");
    let others: Vec<_> = (0..20).map(|_| resolve()).collect();
    // The map, the worker and the first caller each hold a reference to the lookup, and so does each waiting caller.
    while Arc::strong_count(&cache.pool.state.lock().unwrap().in_progress["held.example"]) < 23 {
        thread::yield_now();
    }
    result_sender.send(Ok(vec![ADDRESS])).unwrap();
    for thread in others.into_iter().chain([first]) {
        assert_eq!(thread.join().unwrap(), Ok(vec![ADDRESS].into()));
    }
    assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), 1);
}

#[test]
fn waits_are_limited_and_hanging_names_occupy_one_thread_each() {
    let Harness { resolver, cache, started, result_sender } = harness_without_cache();
    for number in 0..3 {
        for _ in 0..5 {
            let result = cache.resolve_host(&format!("held{number}.example"), Duration::from_millis(1));
            assert_eq!(result, Err(ResolveError::TimedOut));
        }
        started.recv().unwrap();
    }
    assert_eq!(resolver.lookup_count.load(Ordering::SeqCst), 3);
    assert_eq!(cache.resolve_host("other.example", TIMEOUT), Ok(vec![ADDRESS].into()));
    for _ in 0..3 {
        result_sender.send(Err(io::ErrorKind::NotFound.into())).unwrap();
    }
}

#[test]
fn the_number_of_threads_is_limited_and_abandoned_lookups_are_skipped() {
    let Harness { cache, started, result_sender, .. } = harness_without_cache();
    for number in 0..THREADS_MAX + 10 {
        let result = cache.resolve_host(&format!("held{number}.example"), Duration::ZERO);
        assert_eq!(result, Err(ResolveError::TimedOut));
    }
    for _ in 0..THREADS_MAX {
        started.recv().unwrap();
    }
    assert_eq!(cache.pool.state.lock().unwrap().threads, THREADS_MAX);
    assert_eq!(cache.pool.state.lock().unwrap().waiting.len(), 10);
    let awaited = {
        let cache = Arc::clone(&cache);
        thread::spawn(move || cache.resolve_host("held-last.example", TIMEOUT))
    };
    while cache.pool.state.lock().unwrap().waiting.len() < 11 {
        thread::yield_now();
    }
    for _ in 0..=THREADS_MAX {
        result_sender.send(Ok(vec![ADDRESS])).unwrap();
    }
    assert_eq!(started.recv().unwrap(), "held-last.example");
    assert_eq!(awaited.join().unwrap(), Ok(vec![ADDRESS].into()));
}

/// A thread with a stack of this size cannot be started.
const STACK_BYTES_TOO_LARGE: usize = 1 << 60;

#[test]
fn lookups_fail_if_no_thread_can_be_started() {
    let cache = DnsCache::with_stack_size(Arc::new(SystemResolver), TIMEOUT, STACK_BYTES_TOO_LARGE);
    assert_eq!(cache.resolve_host("localhost", Duration::ZERO), Err(ResolveError::TimedOut));
    let state = cache.pool.state.lock().unwrap();
    assert_eq!((state.threads, state.waiting.len(), state.in_progress.len()), (0, 0, 0));
}

#[test]
fn the_system_resolves_names_of_this_machine() {
    let cache = DnsCache::new(Arc::new(SystemResolver), Duration::ZERO);
    let found = cache.resolve_host("localhost", TIMEOUT).unwrap();
    assert!(found.iter().all(IpAddr::is_loopback), "{found:?}");
}

#[test]
fn threads_end_when_no_lookup_is_waiting_even_if_the_resolver_panics() {
    let Harness { cache, .. } = harness_without_cache();
    for _ in 0..3 {
        assert_eq!(cache.resolve_host("panic.example", TIMEOUT), Err(ResolveError::NotFound));
        assert_eq!(cache.resolve_host("a.example", TIMEOUT), Ok(vec![ADDRESS].into()));
    }
    let count_threads = || cache.pool.state.lock().unwrap().threads;
    while count_threads() > 0 {
        thread::yield_now();
    }
}

#[test]
fn a_name_without_addresses_is_unknown() {
    let Harness { cache, result_sender, .. } = harness_without_cache();
    result_sender.send(Ok(Vec::new())).unwrap();
    assert_eq!(cache.resolve_host("held.example", TIMEOUT), Err(ResolveError::NotFound));
    result_sender.send(Err(io::ErrorKind::NotFound.into())).unwrap();
    assert_eq!(cache.resolve_host("held.example", TIMEOUT), Err(ResolveError::NotFound));
}

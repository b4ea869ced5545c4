//! Resolves host names in bounded time with a bounded number of threads. Results are cached briefly, so that a
//! receiver's name is not resolved again for each event of a backlog.
//!
//! The resolver is the system's, so that its configuration applies (`hickory-resolver` ignores nsswitch.conf). It
//! blocks, so the threads must be limited, which a cache alone, such as `moka`, does not do.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::mutex::lock_mutex;

/// The maximum number of lookups in progress. Each host name occupies at most one thread. Receivers that are known to
/// be slow occupy fewer senders than that, so threads remain for the others.
const THREADS_MAX: usize = 64;
const STACK_BYTES: usize = 256 * 1024;
/// The maximum number of cached results.
const CACHED_NAMES_MAX: usize = 1_024;

/// Resolves host names; a port, so that tests need no DNS.
pub trait HostResolver: Send + Sync {
    /// Returns all IPv4 and IPv6 addresses of a host name, in the order in which to try them. May block for any time:
    /// the caller waits no longer than an attempt allows.
    ///
    /// # Errors
    ///
    /// The resolver's error. Its message is not shown.
    fn resolve_host(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver: `/etc/hosts` and DNS, as configured.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl HostResolver for SystemResolver {
    fn resolve_host(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (name, 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
    }
}

/// Why a host name could not be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolveError {
    NotFound,
    TimedOut,
}

type LookupResult = Result<Arc<[IpAddr]>, ResolveError>;

/// Resolves host names. Concurrent requests for the same name share one lookup. So a name whose servers hang occupies
/// only one thread, however many attempts need the name.
pub(crate) struct DnsCache {
    pool: Arc<LookupPool>,
}

struct LookupPool {
    resolver: Arc<dyn HostResolver>,
    ttl: Duration,
    /// The size of each thread's stack.
    stack_bytes: usize,
    state: Mutex<LookupState>,
}

#[derive(Default)]
struct LookupState {
    /// The cached addresses of each name, with the time at which they expire.
    cached: HashMap<String, (Instant, Arc<[IpAddr]>)>,
    in_progress: HashMap<String, Arc<PendingLookup>>,
    /// Lookups for which no thread was free.
    waiting: VecDeque<QueuedLookup>,
    /// The number of threads. Each ends when no lookup is waiting.
    threads: usize,
}

/// A host name, and its lookup.
type QueuedLookup = (String, Arc<PendingLookup>);

#[derive(Default)]
struct PendingLookup {
    result: Mutex<Option<LookupResult>>,
    completed: Condvar,
}

impl DnsCache {
    /// Creates a cache that keeps results for `ttl`.
    pub(crate) fn new(resolver: Arc<dyn HostResolver>, ttl: Duration) -> Self {
        Self::with_stack_size(resolver, ttl, STACK_BYTES)
    }

    fn with_stack_size(resolver: Arc<dyn HostResolver>, ttl: Duration, stack_bytes: usize) -> Self {
        Self { pool: Arc::new(LookupPool { resolver, ttl, stack_bytes, state: Mutex::default() }) }
    }

    /// Returns the addresses of a host name, or fails if they are not found within `timeout`.
    pub(crate) fn resolve_host(&self, name: &str, timeout: Duration) -> LookupResult {
        let deadline = Instant::now() + timeout;
        if let Some(known) = lock_mutex(&self.pool.state).cached_addresses(name) {
            return Ok(known);
        }
        let lookup = self.start_lookup(name);
        let mut result = lock_mutex(&lookup.result);
        loop {
            if let Some(result) = result.as_ref() {
                return result.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ResolveError::TimedOut);
            }
            (result, _) = lookup.completed.wait_timeout(result, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn start_lookup(&self, name: &str) -> Arc<PendingLookup> {
        let mut state = lock_mutex(&self.pool.state);
        if let Some(lookup) = state.in_progress.get(name) {
            return Arc::clone(lookup);
        }
        let lookup = Arc::<PendingLookup>::default();
        state.in_progress.insert(name.to_owned(), Arc::clone(&lookup));
        let queued = (name.to_owned(), Arc::clone(&lookup));
        if state.threads >= THREADS_MAX {
            state.waiting.push_back(queued); // the next thread that is free performs it
            return lookup;
        }
        state.threads += 1;
        drop(state);
        let pool = Arc::clone(&self.pool);
        let started = thread::Builder::new()
            .name("webhook-names".to_owned())
            .stack_size(pool.stack_bytes)
            .spawn(move || pool.run_lookups(queued));
        if let Err(cause) = started {
            log::warn!(cause:%; "cannot start a thread to resolve a host name: the attempt fails and is retried");
            let mut state = lock_mutex(&self.pool.state);
            state.threads -= 1;
            complete_lookup(&mut state, name, &lookup, Err(ResolveError::TimedOut));
            // Without threads, no lookup would ever complete. The waiting lookups fail, so that the names can be
            // requested again.
            if state.threads == 0 {
                let abandoned = std::mem::take(&mut state.waiting);
                abandoned.iter().for_each(|(name, lookup)| {
                    complete_lookup(&mut state, name, lookup, Err(ResolveError::TimedOut))
                });
            }
        }
        lookup
    }
}

impl LookupState {
    fn cached_addresses(&self, name: &str) -> Option<Arc<[IpAddr]>> {
        let (expires_at, addresses) = self.cached.get(name)?;
        (*expires_at > Instant::now()).then(|| Arc::clone(addresses))
    }

    fn store_addresses(&mut self, name: &str, addresses: &Arc<[IpAddr]>, ttl: Duration) {
        let now = Instant::now();
        if self.cached.len() >= CACHED_NAMES_MAX {
            self.cached.retain(|_, (expires_at, _)| *expires_at > now);
        }
        if self.cached.len() < CACHED_NAMES_MAX {
            self.cached.insert(name.to_owned(), (now + ttl, Arc::clone(addresses)));
        }
    }
}

impl LookupPool {
    /// Performs a lookup, and then others until none is waiting.
    fn run_lookups(&self, first: QueuedLookup) {
        let mut next = Some(first);
        while let Some((name, lookup)) = next {
            let found = catch_unwind(AssertUnwindSafe(|| self.resolver.resolve_host(&name)));
            let result = match found {
                Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses.into()),
                Ok(_) | Err(_) => Err(ResolveError::NotFound),
            };
            let mut state = lock_mutex(&self.state);
            if let Ok(addresses) = &result {
                state.store_addresses(&name, addresses, self.ttl);
            }
            complete_lookup(&mut state, &name, &lookup, result);
            drop(state);
            next = self.next_lookup();
        }
    }

    /// Removes the first waiting lookup whose result is awaited, and drops the abandoned lookups before it. Without
    /// such a lookup, the calling thread ends.
    fn next_lookup(&self) -> Option<QueuedLookup> {
        let mut state = lock_mutex(&self.state);
        while let Some((name, lookup)) = state.waiting.pop_front() {
            // The map has one reference, `lookup` is another, and each waiting caller has one.
            if Arc::strong_count(&lookup) > 2 {
                return Some((name, lookup));
            }
            state.in_progress.remove(&name);
        }
        state.threads -= 1;
        None
    }
}

fn complete_lookup(state: &mut LookupState, name: &str, lookup: &PendingLookup, result: LookupResult) {
    state.in_progress.remove(name);
    *lock_mutex(&lookup.result) = Some(result);
    lookup.completed.notify_all();
}

#[cfg(test)]
mod tests;

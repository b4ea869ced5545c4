//! Resolves host names in bounded time with a bounded number of threads. Results are cached briefly, so a backlog of
//! events to one receiver resolves its name once, not once per event.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum of lookups in progress. Higher than the number of receivers that may hang (behaviour 23.9), since each
/// host name occupies at most one thread.
const THREADS_MAX: usize = 64;
const STACK_BYTES: usize = 256 * 1024;
const IDLE_MAX: Duration = Duration::from_secs(10);
/// The maximum of cached results.
const KEPT_MAX: usize = 1_024;

/// The system's resolver for host names.
pub trait LookUp: Send + Sync {
    /// Returns all IPv4 and IPv6 addresses of a host name, in the order in which to try them. May block for any time:
    /// the caller waits no longer than an attempt allows.
    ///
    /// # Errors
    ///
    /// The system's error. Its message is not shown.
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver: `/etc/hosts` and DNS, as configured.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookUp;

impl LookUp for SystemLookUp {
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        (name, 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
    }
}

/// Why a host name could not be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameError {
    Unknown,
    TooSlow,
}

type Answer = Result<Arc<[IpAddr]>, NameError>;

/// Resolves host names. Concurrent requests for the same name share one lookup, so a name whose servers hang occupies
/// one thread, however many attempts need it.
pub(crate) struct Names {
    look_ups: Arc<LookUps>,
}

struct LookUps {
    look_up: Arc<dyn LookUp>,
    kept: Duration,
    state: Mutex<Questions>,
    asked: Condvar,
}

#[derive(Default)]
struct Questions {
    /// The cached addresses of each name, with the time at which they expire.
    known: HashMap<String, (Instant, Arc<[IpAddr]>)>,
    open: HashMap<String, Arc<Question>>,
    waiting: VecDeque<(String, Arc<Question>)>,
    threads: usize,
    idle: usize,
}

#[derive(Default)]
struct Question {
    answer: Mutex<Option<Answer>>,
    answered: Condvar,
}

impl Names {
    /// `kept` is how long results are cached.
    pub(crate) fn new(look_up: Arc<dyn LookUp>, kept: Duration) -> Self {
        Self { look_ups: Arc::new(LookUps { look_up, kept, state: Mutex::default(), asked: Condvar::new() }) }
    }

    /// Returns the addresses of a host name, if they are found within this time.
    pub(crate) fn addresses(&self, name: &str, within: Duration) -> Answer {
        let until = Instant::now() + within;
        if let Some(known) = hold(&self.look_ups.state).known(name) {
            return Ok(known);
        }
        let question = self.ask(name);
        let mut answer = hold(&question.answer);
        loop {
            if let Some(answer) = answer.as_ref() {
                return answer.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NameError::TooSlow);
            }
            (answer, _) =
                question.answered.wait_timeout(answer, left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn ask(&self, name: &str) -> Arc<Question> {
        let mut state = hold(&self.look_ups.state);
        if let Some(question) = state.open.get(name) {
            return Arc::clone(question);
        }
        let question = Arc::<Question>::default();
        state.open.insert(name.to_owned(), Arc::clone(&question));
        state.waiting.push_back((name.to_owned(), Arc::clone(&question)));
        if state.waiting.len() <= state.idle || state.threads >= THREADS_MAX {
            self.look_ups.asked.notify_one();
            return question;
        }
        state.threads += 1;
        drop(state);
        let look_ups = Arc::clone(&self.look_ups);
        let started = thread::Builder::new()
            .name("webhook-names".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || look_ups.work());
        if let Err(cause) = started {
            log::warn!("no thread for looking names up: {cause}");
            let mut state = hold(&self.look_ups.state);
            state.threads -= 1;
            // No thread will ever complete this lookup. It is removed so that the name can be requested again.
            if state.threads == 0 {
                let lost = std::mem::take(&mut state.waiting);
                lost.iter().for_each(|(name, question)| {
                    conclude(&mut state, name, question, Err(NameError::TooSlow))
                });
            }
        }
        question
    }
}

impl Questions {
    fn known(&self, name: &str) -> Option<Arc<[IpAddr]>> {
        let (until, addresses) = self.known.get(name)?;
        (*until > Instant::now()).then(|| Arc::clone(addresses))
    }

    fn keep(&mut self, name: &str, addresses: &Arc<[IpAddr]>, kept: Duration) {
        let now = Instant::now();
        if self.known.len() >= KEPT_MAX {
            self.known.retain(|_, (until, _)| *until > now);
        }
        if self.known.len() < KEPT_MAX {
            self.known.insert(name.to_owned(), (now + kept, Arc::clone(addresses)));
        }
    }
}

impl LookUps {
    fn work(&self) {
        let mut state = hold(&self.state);
        loop {
            if let Some((name, question)) = state.waiting.pop_front() {
                drop(state);
                let ending = Ending { look_ups: self, name, question };
                let answer = match self.look_up.look_up(&ending.name) {
                    Ok(found) if !found.is_empty() => Ok(found.into()),
                    Ok(_) | Err(_) => Err(NameError::Unknown),
                };
                let mut state_then = hold(&self.state);
                if let Ok(addresses) = &answer {
                    state_then.keep(&ending.name, addresses, self.kept);
                }
                conclude(&mut state_then, &ending.name, &ending.question, answer);
                drop(state_then);
                drop(ending);
                state = hold(&self.state);
                continue;
            }
            state.idle += 1;
            let (woken, timed_out) =
                self.asked.wait_timeout(state, IDLE_MAX).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if timed_out.timed_out() && state.waiting.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

/// Completes a lookup whose thread panics, so that no caller waits for it in vain.
struct Ending<'a> {
    look_ups: &'a LookUps,
    name: String,
    question: Arc<Question>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut state = hold(&self.look_ups.state);
            state.threads -= 1;
            conclude(&mut state, &self.name, &self.question, Err(NameError::Unknown));
        }
    }
}

fn conclude(state: &mut Questions, name: &str, question: &Question, answer: Answer) {
    state.open.remove(name);
    *hold(&question.answer) = Some(answer);
    question.answered.notify_all();
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

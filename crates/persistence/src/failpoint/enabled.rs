//! Failpoints and mutants in a build for tests. They are global to the process.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use diesel::result::{DatabaseErrorKind, Error};
use fail::fail_point;
use guerdon_domain::ledger::Changes;
use guerdon_domain::ports::StoreError;

use super::names::Mutant;

/// The error that a failpoint injects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedError {
    /// The database rejected the statement.
    Broken,
    /// The database is unavailable.
    Unavailable,
    /// Another transaction held a lock.
    Busy,
}

impl InjectedError {
    const ALL: [Self; 3] = [Self::Broken, Self::Unavailable, Self::Busy];

    /// The database message that is simulated. The error classification of both databases maps it to this
    /// error.
    const fn message(self) -> &'static str {
        match self {
            Self::Broken => "injected failure",
            Self::Unavailable => "injected disk I/O error: server closed the connection",
            Self::Busy => "injected lock timeout: database is locked",
        }
    }

    fn from_message(message: Option<&str>) -> Self {
        Self::ALL.into_iter().find(|error| Some(error.message()) == message).unwrap_or(Self::Broken)
    }
}

impl From<InjectedError> for Error {
    fn from(error: InjectedError) -> Self {
        Self::DatabaseError(DatabaseErrorKind::Unknown, Box::new(error.message().to_owned()))
    }
}

impl From<InjectedError> for StoreError {
    fn from(error: InjectedError) -> Self {
        match error {
            InjectedError::Broken => Self::Broken(error.message().to_owned()),
            InjectedError::Unavailable => Self::Unavailable(error.message().to_owned()),
            InjectedError::Busy => Self::Busy,
        }
    }
}

/// What happens at a failpoint.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Each pass fails.
    EachFails(InjectedError),
    /// The pass after `passes` others fails.
    FailsAfter { passes: usize, error: InjectedError },
    /// On average, this percentage of the passes fails.
    FailsSometimes { percent: u8, error: InjectedError },
    /// The pass after `passes` others panics.
    PanicsAfter { passes: usize },
    /// From the pass after `passes` others on, each pass calls `kill`, which either ends the process as `kill -9` does,
    /// or returns, and the pass continues.
    Kills { passes: usize, kill: fn() },
}

static HIT_COUNTS: Mutex<BTreeMap<&'static str, usize>> = Mutex::new(BTreeMap::new());
static MUTANT: Mutex<Option<ActiveMutant>> = Mutex::new(None);

struct ActiveMutant {
    mutant: Mutant,
    passes: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner) // nothing panics under these locks
}

/// Passes a failpoint in a function that can fail. Returns the injected error, if any.
pub(crate) fn failpoint(name: &'static str) -> Result<(), InjectedError> {
    *lock(&HIT_COUNTS).entry(name).or_default() += 1;
    fail_point!(name, |message| Err(InjectedError::from_message(message.as_deref())));
    Ok(())
}

/// Passes a failpoint in a function that cannot fail.
pub(crate) fn pass_failpoint(name: &'static str) {
    *lock(&HIT_COUNTS).entry(name).or_default() += 1;
    fail_point!(name);
}

/// Whether this mutant is switched on and shows its defect in this pass.
pub(crate) fn is_mutant(name: &'static str) -> bool {
    let mut mutant = lock(&MUTANT);
    let Some(active) = mutant.as_mut().filter(|active| active.mutant.name == name) else { return false };
    active.passes += 1;
    active.passes.is_multiple_of(active.mutant.period)
}

/// Returns the changes, altered by the active mutant if it alters changes.
pub(crate) fn alter_changes(changes: &Changes) -> Cow<'_, Changes> {
    let mut changes = Cow::Borrowed(changes);
    if !changes.events.is_empty() && is_mutant("forget_event") {
        changes.to_mut().events.pop();
    }
    if !changes.recognitions.is_empty() && is_mutant("forget_recognition") {
        changes.to_mut().recognitions.pop();
    }
    if !changes.idempotency_records.is_empty() && is_mutant("forget_key") {
        changes.to_mut().idempotency_records.clear();
    }
    if !changes.idempotency_records.is_empty() && is_mutant("alter_response") {
        changes.to_mut().idempotency_records.iter_mut().for_each(|record| record.body.push(b' '));
    }
    changes
}

/// Injects a fault at a failpoint until [`clear_all`].
///
/// # Errors
///
/// If the `fail` crate does not accept the action.
pub fn inject(name: &str, fault: Fault) -> Result<(), String> {
    let returns = |error: InjectedError| format!("return({})", error.message());
    match fault {
        Fault::EachFails(error) => fail::cfg(name, &returns(error)),
        Fault::FailsAfter { passes: 0, error } => fail::cfg(name, &format!("1*{}->off", returns(error))),
        Fault::FailsAfter { passes, error } => {
            fail::cfg(name, &format!("{passes}*off->1*{}->off", returns(error)))
        }
        Fault::FailsSometimes { percent, error } => fail::cfg(name, &format!("{percent}%{}", returns(error))),
        Fault::PanicsAfter { passes: 0 } => fail::cfg(name, "1*panic(injected panic)->off"),
        Fault::PanicsAfter { passes } => {
            fail::cfg(name, &format!("{passes}*off->1*panic(injected panic)->off"))
        }
        Fault::Kills { passes, kill } => {
            let remaining = std::sync::atomic::AtomicUsize::new(passes);
            fail::cfg_callback(name, move || {
                let update = |left: usize| left.checked_sub(1);
                let order = std::sync::atomic::Ordering::SeqCst;
                if remaining.fetch_update(order, order, update).is_err() {
                    kill();
                }
            })
        }
    }
}

/// Switches a mutant on, until [`clear_all`].
pub fn start_mutant(mutant: Mutant) {
    *lock(&MUTANT) = Some(ActiveMutant { mutant, passes: 0 });
}

/// Removes all faults and mutants.
pub fn clear_all() {
    for (name, _) in fail::list() {
        fail::remove(name);
    }
    *lock(&MUTANT) = None;
}

/// How often each failpoint was passed since the process started.
pub fn hit_counts() -> BTreeMap<&'static str, usize> {
    lock(&HIT_COUNTS).clone()
}

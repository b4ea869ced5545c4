//! Postings that wait at the same moment, made as one set in one transaction.
//!
//! A posting is first asked what it will need (`postings`). If it can go into a set it waits in a queue, before a few lanes:
//! threads with a connection each. Whichever is free takes those that wait, as many as a set holds, begins a transaction, and
//! reads and holds what all of them need. Then it runs each in the order of the queue on the set in memory; a refused one
//! leaves the set as it found it. It writes what all of them come to, commits, and tells all: the refused too, since a
//! refusal may rest on what a unit before it did.
//!
//! No two sets at work share an account, and none waits for a lock that somebody else holds: what cannot be had at once
//! is left out of the set, and whoever needs it runs alone, with the time that this takes, as if there had been no set.
//! So nobody in a set waits for what only a neighbour wants.
//!
//! What goes wrong before the commit goes wrong for no one: all are run again, each alone. Once the answer to a commit is
//! lost nobody is.

mod facts;
mod queue;
mod writes;

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use diesel::PgConnection;
use guerdon_domain::ports::{Posting, PostingEnd, PostingWork, StoreError, Verdict, Wakes};
use guerdon_domain::wallets::Account;

use self::queue::{Queue, Waiting};
use super::repo::Unit;
use super::terms::Terms;
use super::transaction::{UnitEnd, begin, commit, rollback};
use crate::pool::Pool;
use crate::postings::{Ahead, Part, Set, WAITING_MAX, panicked};

/// Sets at work at one time. On two processors more are slower.
const LANES: u32 = 2;

/// How a set ended: committed, or none of it, and all are to be run alone.
type End = Option<Result<(), StoreError>>;

/// How a posting ended in its set.
enum Turn {
    Taken,
    /// It needs what a set does not have.
    Alone,
    Panicked(Box<dyn Any + Send>),
}

/// The lanes in which sets are made. Dropped, they end with what waits.
pub(crate) struct Sets {
    shared: Arc<Shared>,
    lanes: Vec<JoinHandle<()>>,
}

/// What the lanes share, and the queue before them.
struct Shared {
    pool: Pool<PgConnection>,
    wakes: Wakes,
    queue: Mutex<Queue>,
    /// Somebody has come, or an account is free.
    come: Condvar,
}

/// The accounts of a set at work. Dropped, they are free.
struct Busy<'a> {
    shared: &'a Shared,
    accounts: HashSet<Account>,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.shared.queue().free(&self.accounts);
        self.shared.come.notify_all();
    }
}

/// The accounts of a posting that runs alone. Dropped, they are free for sets again.
struct Apart {
    shared: Arc<Shared>,
    accounts: Vec<Account>,
}

impl Drop for Apart {
    fn drop(&mut self) {
        self.shared.queue().let_go(&self.accounts);
        self.shared.come.notify_all();
    }
}

impl Sets {
    /// How many connections they use at a time.
    pub(super) const CONNECTIONS: u32 = LANES;

    pub(super) fn begin(pool: Pool<PgConnection>, wakes: Wakes) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { pool, wakes, queue: Mutex::default(), come: Condvar::new() });
        let mut sets = Self { shared, lanes: Vec::new() };
        for number in 1..=LANES {
            let shared = Arc::clone(&sets.shared);
            let lane = Builder::new().name(format!("postings-{number}"));
            sets.lanes.push(lane.spawn(move || shared.work())?);
        }
        Ok(sets)
    }

    /// Takes a posting over that is held to these terms.
    pub(super) fn take_over(&self, mut posting: Posting, mut terms: Terms) {
        let ahead = match catch_unwind(AssertUnwindSafe(|| asked(&mut *posting.work, &mut terms))) {
            Ok(ahead) => ahead,
            Err(panic) => return (posting.told)(PostingEnd::Ended(Err(panicked(&*panic)))),
        };
        if !ahead.is_known() {
            let apart = self.shared.set_apart(ahead.accounts);
            return (posting.told)(PostingEnd::Alone(Box::new(apart)));
        }
        let mut queue = self.shared.queue();
        if queue.len() >= WAITING_MAX {
            drop(queue);
            return (posting.told)(PostingEnd::Ended(Err(StoreError::Contended)));
        }
        queue.push(Waiting { posting, ahead, terms });
        self.shared.come.notify_one();
    }
}

impl Drop for Sets {
    fn drop(&mut self) {
        self.shared.queue().is_closed = true;
        self.shared.come.notify_all();
        for lane in self.lanes.drain(..) {
            // The last who knows the store may be a posting that this very lane has just run.
            if lane.thread().id() != std::thread::current().id() {
                lane.join().unwrap_or_default(); // it catches what panics
            }
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner) // nothing that can panic is done under it
    }

    fn set_apart(self: &Arc<Self>, accounts: Vec<Account>) -> Apart {
        self.queue().set_apart(&accounts);
        Apart { shared: Arc::clone(self), accounts }
    }

    /// Makes one set after the other, to the end.
    fn work(self: &Arc<Self>) {
        while let Some((postings, accounts)) = self.take() {
            let busy = Busy { shared: self, accounts };
            // Of those that a panic takes along nobody is told anything: their end is not known.
            if catch_unwind(AssertUnwindSafe(|| self.make(postings, busy))).is_err() {
                log::error!("a set of postings broke off");
            }
        }
    }

    /// Takes those that can go into a set, and waits for one; none where there will be no more.
    fn take(&self) -> Option<(Vec<Waiting>, HashSet<Account>)> {
        let mut queue = self.queue();
        loop {
            if let Some(taken) = queue.take() {
                return Some(taken);
            }
            if queue.is_closed && queue.len() == 0 {
                return None;
            }
            queue = self.come.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes a set, and tells each how it ended.
    fn make(self: &Arc<Self>, postings: Vec<Waiting>, busy: Busy<'_>) {
        let is_late = |it: &Waiting| it.terms.patience(Duration::MAX).is_err();
        let (late, mut postings): (Vec<_>, Vec<_>) = postings.into_iter().partition(is_late);
        let mut turns = Vec::with_capacity(postings.len());
        let end = self.try_to_make(&mut postings, &mut turns);
        let late =
            late.into_iter().map(|it| (it.posting.told, PostingEnd::Ended(Err(StoreError::Contended))));
        let turns = turns.into_iter().chain(std::iter::repeat_with(|| Turn::Alone));
        let made = postings.into_iter().zip(turns).map(|(it, turn)| {
            let end = match (turn, &end) {
                (Turn::Panicked(panic), _) => PostingEnd::Ended(Err(panicked(&*panic))),
                (Turn::Taken, Some(end)) => PostingEnd::Ended(end.clone()),
                (Turn::Taken, None) | (Turn::Alone, _) => {
                    PostingEnd::Alone(Box::new(self.set_apart(it.ahead.accounts)))
                }
            };
            (it.posting.told, end)
        });
        let ends: Vec<_> = late.chain(made).collect();
        drop(busy); // the other lane goes on before anybody is told
        for (told, end) in ends {
            told(end);
        }
    }

    fn try_to_make(&self, postings: &mut [Waiting], turns: &mut Vec<Turn>) -> End {
        let first = postings.first()?;
        let mut link = begin(&self.pool, "BEGIN ISOLATION LEVEL READ COMMITTED", &first.terms).ok()?;
        let ahead: Vec<&Ahead> = postings.iter().map(|it| &it.ahead).collect();
        let Ok(set) = facts::gather(&mut link.conn, &ahead) else {
            rollback(&mut link);
            return None;
        };
        let mut set = Box::new(set);
        for posting in &mut *postings {
            let turn;
            (set, turn) = take_turn(set, &mut *posting.posting.work, &mut posting.terms);
            turns.push(turn);
        }
        if set.is_empty() {
            rollback(&mut link);
            return Some(Ok(()));
        }
        let written = writes::write(&mut link.conn, &set);
        let deadline = postings.iter().filter_map(|it| it.terms.deadline()).min();
        if written.is_err() || deadline.is_some_and(|it| it <= Instant::now()) {
            log::debug!("a set of {} postings is made one by one: {written:?}", postings.len());
            rollback(&mut link);
            return None;
        }
        match commit(&mut link) {
            UnitEnd::Failed(fault) => Some(Err(fault)),
            UnitEnd::LostRace | UnitEnd::Panicked(_) => None,
            UnitEnd::Done => {
                drop(link); // free for another before anybody is told
                set.queued.tell(&self.wakes);
                Some(Ok(()))
            }
        }
    }
}

/// What a unit of work says that it will need.
fn asked(work: &mut PostingWork, terms: &mut Terms) -> Ahead {
    terms.put_part(Part::Ahead(Ahead::default()));
    let mut unit = Unit::new(None, terms);
    work(&mut unit);
    drop(unit);
    match terms.take_part() {
        Some(Part::Ahead(ahead)) => ahead,
        Some(Part::InSet(_)) | None => unreachable!("nobody else takes what a unit says ahead"),
    }
}

/// Runs a unit of work on a set.
fn take_turn(mut set: Box<Set>, work: &mut PostingWork, terms: &mut Terms) -> (Box<Set>, Turn) {
    set.begin();
    terms.put_part(Part::InSet(set));
    let mut unit = Unit::new(None, terms);
    let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
    let (fault, queued) = unit.end();
    let Some(Part::InSet(mut set)) = terms.take_part() else {
        unreachable!("nobody else takes the set of a unit that has its turn")
    };
    if matches!(verdict, Ok(Verdict::Commit)) && fault.is_none() {
        set.queued |= queued;
    } else {
        set.go_back();
    }
    let turn = match (verdict, fault) {
        (Err(panic), _) => Turn::Panicked(panic),
        (Ok(_), Some(_)) => Turn::Alone,
        (Ok(_), None) => Turn::Taken,
    };
    (set, turn)
}

//! Postings that wait at the same moment, made as one set in one transaction.
//!
//! A unit of work is first asked what it will need (`postings`). If it can go into a set it waits in a queue, alone for no
//! longer than a lane is free: then it leads a set. The leader takes those that wait, as many as a set holds, begins a
//! transaction, and reads and holds what all of them need. Then each runs its own unit on its own thread in the order of
//! the queue, on the set in memory, which is handed from one to the next; a refused one leaves the set as it found it.
//! The leader writes what all of them come to, commits, and tells all: the refused too, since a refusal may rest on what
//! a unit before it did.
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

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::PgConnection;
use guerdon_domain::ports::{StoreError, Tx, Verdict, Wakes};
use guerdon_domain::wallets::Account;

use queue::{End, LANES, Order, Queue, Waiting};

use super::repo::Unit;
use super::terms::Terms;
use super::transaction::{UnitEnd, begin, commit, rollback};
use crate::pool::Pool;
use crate::postings::{Ahead, Posting, Set};

/// The most postings that wait; more are sent away at once.
const WAITING_MAX: usize = 512;
/// How long a posting waits for its set.
const PATIENCE: Duration = Duration::from_secs(5);

type Work<'a> = dyn FnMut(&mut dyn Tx) -> Verdict + 'a;

/// How a unit of work ended that was offered for a set.
pub(super) enum Offered<'a> {
    /// Its set was committed, with what it wrote or without.
    Done(Result<(), StoreError>),
    /// It is to be run alone, and this kept until then.
    Alone(Apart<'a>),
}

/// How a unit ended in its set.
enum Turn {
    Taken,
    /// It needs what a set does not have.
    Alone,
    Panicked(Box<dyn std::any::Any + Send>),
}

/// The lanes in which sets are made, and the queue before them.
pub(crate) struct Sets {
    pool: Pool<PgConnection>,
    wakes: Wakes,
    queue: Mutex<Queue>,
}

/// A lane that is led, and the accounts of its set. Dropped, it goes to whoever waits first.
struct Lane<'a> {
    sets: &'a Sets,
    accounts: HashSet<Account>,
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        let mut queue = self.sets.queue();
        queue.busy.retain(|it| !self.accounts.contains(it));
        queue.leading -= 1;
        queue.dispatch();
    }
}

/// A posting that runs alone. Dropped, its accounts are free for sets again.
pub(super) struct Apart<'a> {
    sets: &'a Sets,
    accounts: Vec<Account>,
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        let mut queue = self.sets.queue();
        for account in &self.accounts {
            if let Some(count) = queue.alone.get_mut(account) {
                *count -= 1;
            }
        }
        queue.alone.retain(|_, count| *count > 0);
        queue.dispatch();
    }
}

impl Sets {
    /// How many they use at a time.
    pub(super) const CONNECTIONS: u32 = LANES;

    pub(super) fn new(pool: Pool<PgConnection>, wakes: Wakes) -> Self {
        Self { pool, wakes, queue: Mutex::default() }
    }

    /// Offers a unit of work for a set; an error where there is no place or no time for it.
    pub(super) fn offer(&self, work: &mut Work<'_>, terms: &mut Terms) -> Result<Offered<'_>, StoreError> {
        let ahead = asked(work, terms);
        let accounts = ahead.accounts.clone();
        if !ahead.is_known() {
            return Ok(Offered::Alone(self.set_apart(accounts)));
        }
        let (orders, told) = channel();
        let mut queue = self.queue();
        if queue.waiting.len() >= WAITING_MAX {
            return Err(StoreError::Contended);
        }
        queue.numbers += 1;
        let number = queue.numbers;
        queue.waiting.push_back(Waiting { number, ahead, deadline: terms.deadline(), orders });
        queue.dispatch();
        drop(queue);
        Ok(match self.wait(number, &told, work, terms)? {
            Some(result) => Offered::Done(result),
            None => Offered::Alone(self.set_apart(accounts)),
        })
    }

    fn set_apart(&self, accounts: Vec<Account>) -> Apart<'_> {
        let mut queue = self.queue();
        for account in &accounts {
            *queue.alone.entry(*account).or_default() += 1;
        }
        Apart { sets: self, accounts }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner) // nothing that can panic is done under it
    }

    /// Takes a posting back that still waits.
    fn withdraw(&self, number: u64) -> bool {
        let mut queue = self.queue();
        let before = queue.waiting.len();
        queue.waiting.retain(|it| it.number != number);
        queue.waiting.len() < before
    }

    fn wait(
        &self,
        number: u64,
        told: &Receiver<Order>,
        work: &mut Work<'_>,
        terms: &mut Terms,
    ) -> Result<End, StoreError> {
        let mut patience = terms.patience(PATIENCE)?;
        loop {
            match told.recv_timeout(patience) {
                Ok(Order::Lead(ahead)) => return Ok(self.lead(&ahead, work, terms)),
                Ok(Order::End(end)) => return Ok(end),
                Ok(Order::Run(set, back)) => {
                    let (set, turn) = take_turn(set, work, terms);
                    let leader_is_there = back.send(set).is_ok();
                    match turn {
                        Turn::Panicked(panic) => resume_unwind(panic),
                        Turn::Taken if leader_is_there => patience = Duration::MAX,
                        Turn::Taken | Turn::Alone => return Ok(None),
                    }
                }
                Err(RecvTimeoutError::Timeout) if self.withdraw(number) => return Err(StoreError::Contended),
                // It has been taken into a set.
                Err(RecvTimeoutError::Timeout) => patience = Duration::MAX,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(StoreError::Unavailable("a set of postings broke off".to_owned()));
                }
            }
        }
    }

    fn lead(&self, ahead: &Ahead, work: &mut Work<'_>, terms: &mut Terms) -> End {
        let mut lane = Lane { sets: self, accounts: ahead.accounts.iter().copied().collect() };
        let others = self.queue().take(&mut lane.accounts);
        let (end, turn) = self.make(ahead, &others, work, terms);
        drop(lane); // it goes on to the next before anybody is told
        for other in others {
            let _gone = other.orders.send(Order::End(end.clone())); // whoever is run alone does not wait
        }
        match turn {
            Turn::Panicked(panic) => resume_unwind(panic),
            Turn::Taken => end,
            Turn::Alone => None,
        }
    }

    /// Makes a set; none where it came to nothing.
    fn make(&self, ahead: &Ahead, others: &[Waiting], work: &mut Work<'_>, terms: &mut Terms) -> (End, Turn) {
        let Ok(mut link) = begin(&self.pool, "BEGIN ISOLATION LEVEL READ COMMITTED", terms) else {
            return (None, Turn::Alone);
        };
        let all: Vec<&Ahead> = std::iter::once(ahead).chain(others.iter().map(|it| &it.ahead)).collect();
        let Ok(set) = facts::gather(&mut link.conn, &all) else {
            rollback(&mut link);
            return (None, Turn::Alone);
        };
        let (mut set, turn) = take_turn(Box::new(set), work, terms);
        for other in others {
            let (back, returned) = channel();
            set = match other.orders.send(Order::Run(set, back)) {
                Ok(()) => match returned.recv() {
                    Ok(set) => set,
                    Err(_lost) => {
                        rollback(&mut link);
                        return (None, turn);
                    }
                },
                Err(not_sent) => match not_sent.0 {
                    Order::Run(set, _) => set,
                    Order::Lead(_) | Order::End(_) => unreachable!("another order was sent"),
                },
            };
        }
        if set.is_empty() {
            rollback(&mut link);
            return (Some(Ok(())), turn);
        }
        let first = others.iter().map(|it| it.deadline).chain([terms.deadline()]).flatten().min();
        let is_late = || first.is_some_and(|it| it <= Instant::now());
        let written = writes::write(&mut link.conn, &set);
        if written.is_err() || is_late() {
            log::debug!("a set of {} postings is made one by one: {written:?}", others.len() + 1);
            rollback(&mut link);
            return (None, turn);
        }
        let end = match commit(&mut link) {
            UnitEnd::Failed(fault) => Some(Err(fault)),
            UnitEnd::LostRace | UnitEnd::Panicked(_) => None,
            UnitEnd::Done => {
                drop(link); // free for another before anybody is told
                set.queued.tell(&self.wakes);
                Some(Ok(()))
            }
        };
        (end, turn)
    }
}

/// What a unit of work says that it will need.
fn asked(work: &mut Work<'_>, terms: &mut Terms) -> Ahead {
    terms.put_posting(Posting::Ahead(Ahead::default()));
    let mut unit = Unit::new(None, terms);
    work(&mut unit);
    drop(unit);
    match terms.take_posting() {
        Some(Posting::Ahead(ahead)) => ahead,
        Some(Posting::InSet(_)) | None => unreachable!("nobody else takes what a unit says ahead"),
    }
}

/// Runs a unit of work on a set.
fn take_turn(mut set: Box<Set>, work: &mut Work<'_>, terms: &mut Terms) -> (Box<Set>, Turn) {
    set.begin();
    terms.put_posting(Posting::InSet(set));
    let mut unit = Unit::new(None, terms);
    let verdict = catch_unwind(AssertUnwindSafe(|| work(&mut unit)));
    let (fault, queued) = unit.end();
    let Some(Posting::InSet(mut set)) = terms.take_posting() else {
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

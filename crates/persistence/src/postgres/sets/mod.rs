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
mod writes;

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::PgConnection;
use guerdon_domain::ports::{StoreError, Tx, Verdict, Wakes};
use guerdon_domain::wallets::Account;

use super::repo::Unit;
use super::terms::Terms;
use super::transaction::{UnitEnd, begin, commit, rollback};
use crate::pool::Pool;
use crate::postings::{Ahead, Posting, Set};

/// The most postings of a set.
const POSTINGS_MAX: usize = 32;
/// Sets at work at one time. On two processors more are slower.
const LANES: usize = 2;
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
    Alone(Option<Apart<'a>>),
}

/// How a set ended for one of its postings: committed, or none of it, and it is to be run alone.
type End = Option<Result<(), StoreError>>;

/// What a posting that waits is told.
enum Order {
    /// To lead a set.
    Lead(Ahead),
    /// To run on this, and to give it back.
    Run(Box<Set>, Sender<Box<Set>>),
    /// How the set ended.
    End(End),
}

/// How a unit ended in its set.
enum Turn {
    Taken,
    /// It needs what a set does not have.
    Alone,
    Panicked(Box<dyn std::any::Any + Send>),
}

/// A posting that waits.
struct Waiting {
    number: u64,
    ahead: Ahead,
    /// After this nothing of it commits.
    deadline: Option<Instant>,
    orders: Sender<Order>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    leading: usize,
    /// The accounts of the sets that are at work.
    busy: HashSet<Account>,
    /// The accounts of the postings that run alone, and of how many: a set would find them held, and have all of its own
    /// run alone too, on and on.
    alone: HashMap<Account, usize>,
    numbers: u64,
}

impl Queue {
    fn is_free(&self, account: &Account) -> bool {
        !self.busy.contains(account) && !self.alone.contains_key(account)
    }

    /// Has the first of those that wait for nothing but a lane lead, as long as there is one.
    fn dispatch(&mut self) {
        while self.leading < LANES {
            let is_free = |it: &Waiting| it.ahead.accounts.iter().all(|it| self.is_free(it));
            let Some(next) = self.waiting.iter().position(is_free).and_then(|it| self.waiting.remove(it))
            else {
                return;
            };
            let accounts = next.ahead.accounts.clone();
            if next.orders.send(Order::Lead(next.ahead)).is_ok() {
                self.busy.extend(accounts);
                self.leading += 1;
            }
        }
    }

    /// Takes those that can go into a set together with these accounts, which grow by theirs.
    fn take(&mut self, own: &mut HashSet<Account>) -> Vec<Waiting> {
        let mut taken = Vec::new();
        let mut left = VecDeque::with_capacity(self.waiting.len());
        while let Some(next) = self.waiting.pop_front() {
            let fits = next.ahead.accounts.iter().all(|it| own.contains(it) || self.is_free(it));
            if !fits || taken.len() + 1 == POSTINGS_MAX {
                left.push_back(next);
                continue;
            }
            own.extend(&next.ahead.accounts);
            self.busy.extend(&next.ahead.accounts);
            taken.push(next);
        }
        self.waiting = left;
        taken
    }
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
    pub(super) const CONNECTIONS: u32 = 2; // one for each lane

    pub(super) fn new(pool: Pool<PgConnection>, wakes: Wakes) -> Self {
        Self { pool, wakes, queue: Mutex::default() }
    }

    /// Offers a unit of work for a set; an error where there is no place or no time for it.
    pub(super) fn offer(&self, work: &mut Work<'_>, terms: &mut Terms) -> Result<Offered<'_>, StoreError> {
        let Some(ahead) = asked(work, terms) else { return Ok(Offered::Alone(None)) };
        let accounts = ahead.accounts.clone();
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
            None => Offered::Alone(Some(self.set_apart(accounts))),
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

/// What a unit of work will need; none where it does not say, or needs what a set does not have.
fn asked(work: &mut Work<'_>, terms: &mut Terms) -> Option<Ahead> {
    terms.put_posting(Posting::Ahead(Ahead::default()));
    let mut unit = Unit::new(None, terms);
    work(&mut unit);
    drop(unit);
    match terms.take_posting()? {
        Posting::Ahead(ahead) if ahead.is_known() => Some(ahead),
        Posting::Ahead(_) | Posting::InSet(_) => None,
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

#[cfg(test)]
mod tests {
    use guerdon_domain::values::UserId;
    use guerdon_domain::wallets::WalletType;
    use uuid::Uuid;

    use super::*;

    fn wallet(number: u128) -> Account {
        Account::Wallet(WalletType::User, UserId::from_uuid(Uuid::from_u128(number)))
    }

    /// Has a posting over these accounts wait.
    fn push(queue: &mut Queue, accounts: &[u128]) -> Receiver<Order> {
        let (orders, told) = channel();
        let ahead = Ahead { accounts: accounts.iter().copied().map(wallet).collect(), ..Ahead::default() };
        queue.numbers += 1;
        queue.waiting.push_back(Waiting { number: queue.numbers, ahead, deadline: None, orders });
        queue.dispatch();
        told
    }

    fn leads(told: &Receiver<Order>) -> bool {
        matches!(told.try_recv(), Ok(Order::Lead(_)))
    }

    fn taken(queue: &mut Queue, own: &[u128]) -> Vec<u64> {
        let mut own = own.iter().copied().map(wallet).collect();
        queue.take(&mut own).iter().map(|it| it.number).collect()
    }

    #[test]
    fn sets_share_no_account_and_nobody_waits_for_a_lane_that_is_free() {
        let mut queue = Queue::default();
        let first = push(&mut queue, &[1, 2]);
        let same = push(&mut queue, &[2, 3]);
        let other = push(&mut queue, &[4]);
        assert!(leads(&first) && leads(&other) && !leads(&same));
        let [_more, alike, _else] =
            [push(&mut queue, &[5]), push(&mut queue, &[3, 1]), push(&mut queue, &[4, 6])];
        assert_eq!(taken(&mut queue, &[1, 2]), [2, 4, 5]);
        assert_eq!(taken(&mut queue, &[4]), [6]);
        assert!(queue.waiting.is_empty() && !leads(&alike));
    }

    #[test]
    fn a_set_holds_no_more_than_it_may_and_leaves_the_others_their_order() {
        let mut queue = Queue::default();
        let all: Vec<_> = (0..40).map(|_| push(&mut queue, &[1])).collect();
        assert!(leads(&all[0]) && !leads(&all[1]));
        let taken = taken(&mut queue, &[1]);
        assert_eq!(taken, (2..33).collect::<Vec<u64>>());
        assert_eq!(
            queue.waiting.iter().map(|it| it.number).collect::<Vec<_>>(),
            (33..41).collect::<Vec<u64>>()
        );
    }

    #[test]
    fn sets_wait_for_what_runs_alone() {
        let mut queue = Queue::default();
        queue.alone.insert(wallet(1), 1);
        let (same, other) = (push(&mut queue, &[1, 2]), push(&mut queue, &[3]));
        assert!(!leads(&same) && leads(&other));
        assert!(taken(&mut queue, &[3]).is_empty());
        queue.alone.clear();
        queue.dispatch();
        assert!(leads(&same));
    }

    #[test]
    fn who_has_gone_leads_nothing() {
        let mut queue = Queue { leading: LANES, ..Queue::default() };
        drop(push(&mut queue, &[1]));
        let next = push(&mut queue, &[1]);
        queue.leading = 0;
        queue.dispatch();
        assert!(leads(&next));
        assert_eq!(queue.leading, 1);
    }
}

//! Who waits for a set, and who goes into one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::Sender;
use std::time::Instant;

use guerdon_domain::ports::StoreError;
use guerdon_domain::wallets::Account;

use crate::postings::{Ahead, Set};

/// The most postings of a set.
const POSTINGS_MAX: usize = 32;
/// Sets at work at one time. On two processors more are slower.
pub(super) const LANES: u32 = 2;

/// How a set ended for one of its postings: committed, or none of it, and it is to be run alone.
pub(super) type End = Option<Result<(), StoreError>>;

/// What a posting that waits is told.
pub(super) enum Order {
    /// To lead a set.
    Lead(Ahead),
    /// To run on this, and to give it back.
    Run(Box<Set>, Sender<Box<Set>>),
    /// How the set ended.
    End(End),
}

/// A posting that waits.
pub(super) struct Waiting {
    pub(super) number: u64,
    pub(super) ahead: Ahead,
    /// After this nothing of it commits.
    pub(super) deadline: Option<Instant>,
    pub(super) orders: Sender<Order>,
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) leading: u32,
    /// The accounts of the sets that are at work.
    pub(super) busy: HashSet<Account>,
    /// The accounts of the postings that run alone, and of how many: a set would find them held, and have all of its own
    /// run alone too, on and on.
    pub(super) alone: HashMap<Account, usize>,
    pub(super) numbers: u64,
}

impl Queue {
    fn is_free(&self, account: &Account) -> bool {
        !self.busy.contains(account) && !self.alone.contains_key(account)
    }

    /// Has the first of those that wait for nothing but a lane lead, as long as there is one.
    pub(super) fn dispatch(&mut self) {
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
    pub(super) fn take(&mut self, own: &mut HashSet<Account>) -> Vec<Waiting> {
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

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

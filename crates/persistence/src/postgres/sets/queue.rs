//! Who waits for a set, and who goes into one.

use std::collections::{HashMap, HashSet, VecDeque};

use guerdon_domain::ports::Posting;
use guerdon_domain::wallets::Account;

use super::super::terms::Terms;
use crate::postings::Ahead;

/// The most postings of a set.
const POSTINGS_MAX: usize = 32;

/// A posting that waits.
pub(super) struct Waiting {
    pub(super) posting: Posting,
    pub(super) ahead: Ahead,
    pub(super) terms: Terms,
}

#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
    /// The accounts of the sets that are at work.
    busy: HashSet<Account>,
    /// The accounts of the postings that run alone, and of how many: a set would find them held, and have all of its own
    /// run alone too, on and on.
    alone: HashMap<Account, usize>,
    /// Nobody comes any more.
    pub(super) is_closed: bool,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    fn is_free(&self, account: &Account) -> bool {
        !self.busy.contains(account) && !self.alone.contains_key(account)
    }

    /// Takes the first whose accounts nobody has, and those that can go into a set with it, in the order in which they
    /// came; with all their accounts, which are then busy. None where nobody can go.
    pub(super) fn take(&mut self) -> Option<(Vec<Waiting>, HashSet<Account>)> {
        let is_free = |it: &Waiting| it.ahead.accounts.iter().all(|it| self.is_free(it));
        let first = self.waiting.iter().position(is_free).and_then(|it| self.waiting.remove(it))?;
        let mut own: HashSet<Account> = first.ahead.accounts.iter().copied().collect();
        let mut taken = vec![first];
        let mut left = VecDeque::with_capacity(self.waiting.len());
        while let Some(next) = self.waiting.pop_front() {
            let fits = next.ahead.accounts.iter().all(|it| own.contains(it) || self.is_free(it));
            if !fits || taken.len() == POSTINGS_MAX {
                left.push_back(next);
                continue;
            }
            own.extend(&next.ahead.accounts);
            taken.push(next);
        }
        self.waiting = left;
        self.busy.extend(&own);
        Some((taken, own))
    }

    /// A set has ended.
    pub(super) fn free(&mut self, accounts: &HashSet<Account>) {
        self.busy.retain(|it| !accounts.contains(it));
    }

    /// Keeps sets away from accounts, until they are let go as often.
    pub(super) fn set_apart(&mut self, accounts: &[Account]) {
        for account in accounts {
            *self.alone.entry(*account).or_default() += 1;
        }
    }

    pub(super) fn let_go(&mut self, accounts: &[Account]) {
        for account in accounts {
            if let Some(count) = self.alone.get_mut(account) {
                *count -= 1;
            }
        }
        self.alone.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::Verdict;
    use guerdon_domain::values::UserId;
    use guerdon_domain::wallets::WalletType;
    use uuid::Uuid;

    use super::*;

    fn wallet(number: u128) -> Account {
        Account::Wallet(WalletType::User, UserId::from_uuid(Uuid::from_u128(number)))
    }

    /// Has a posting over these accounts wait.
    fn push(queue: &mut Queue, accounts: &[u128]) {
        let posting = Posting { work: Box::new(|_| Verdict::Commit), told: Box::new(|_| ()) };
        let ahead = Ahead { accounts: accounts.iter().copied().map(wallet).collect(), ..Ahead::default() };
        queue.push(Waiting { posting, ahead, terms: Terms::default() });
    }

    /// The first accounts of those that are taken.
    fn taken(queue: &mut Queue) -> Vec<Account> {
        let taken = queue.take().map(|it| it.0).unwrap_or_default();
        taken.iter().map(|it| it.ahead.accounts[0]).collect()
    }

    fn wallets(numbers: &[u128]) -> Vec<Account> {
        numbers.iter().copied().map(wallet).collect()
    }

    #[test]
    fn sets_share_no_account_and_nobody_waits_for_a_lane_that_is_free() {
        let mut queue = Queue::default();
        push(&mut queue, &[1, 2]);
        let (_, first) = queue.take().unwrap();
        for accounts in [&[2, 3][..], &[4], &[5], &[3, 1], &[4, 6]] {
            push(&mut queue, accounts);
        }
        assert_eq!(taken(&mut queue), wallets(&[4, 5, 4]));
        assert!(queue.take().is_none());
        queue.free(&first);
        assert_eq!(taken(&mut queue), wallets(&[2, 3]));
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_set_holds_no_more_than_it_may_and_leaves_the_others_their_order() {
        let mut queue = Queue::default();
        (0..40).for_each(|number| push(&mut queue, &[100 + number, 1]));
        let (first, accounts) = queue.take().unwrap();
        assert_eq!(first.len(), 32);
        queue.free(&accounts);
        assert_eq!(taken(&mut queue), wallets(&[132, 133, 134, 135, 136, 137, 138, 139]));
    }

    #[test]
    fn sets_wait_for_what_runs_alone() {
        let mut queue = Queue::default();
        queue.set_apart(&wallets(&[1]));
        queue.set_apart(&wallets(&[1]));
        push(&mut queue, &[1, 2]);
        push(&mut queue, &[3]);
        assert_eq!(taken(&mut queue), wallets(&[3]));
        queue.let_go(&wallets(&[1]));
        assert!(queue.take().is_none());
        queue.let_go(&wallets(&[1]));
        assert_eq!(taken(&mut queue), wallets(&[1]));
    }
}

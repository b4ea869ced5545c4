//! The books of some accounts, in memory: what a payment does to them, step by step as the databases do it. The store
//! in memory keeps all of its accounts in one; a store that makes many payments in one transaction keeps in one what it
//! holds locked, and writes what has become of them.

mod held;
mod pay;
mod rules;
mod transfer;

use std::collections::{BTreeMap, HashSet};

pub use held::Held;
#[cfg(feature = "memory")]
pub(crate) use rules::require;
pub use transfer::Transfer;

use crate::ports::StoreError;
use crate::values::CauseId;
use crate::wallets::Account;

/// Accounts as they stand, and the transfers that made them so.
#[derive(Debug, Clone, Default)]
pub struct Books {
    accounts: BTreeMap<Account, Held>,
    transfers: Vec<Transfer>,
    legs: HashSet<(CauseId, u32)>,
    /// What was changed since the mark, as it stood before, the latest last.
    before: Vec<(Account, Held)>,
    /// How many transfers there were at the mark.
    mark: usize,
}

impl Books {
    pub fn account(&self, account: Account) -> Option<&Held> {
        self.accounts.get(&account)
    }

    /// All accounts, in the order in which they are locked.
    pub fn accounts(&self) -> impl Iterator<Item = (&Account, &Held)> {
        self.accounts.iter()
    }

    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Enters an account as it stands; `false` where it was entered already.
    pub fn enter(&mut self, account: Account, held: Held) -> bool {
        self.accounts.insert(account, held).is_none()
    }

    /// Marks the present state, to be [gone back](Self::go_back) to.
    pub fn set_mark(&mut self) {
        self.before.clear();
        self.mark = self.transfers.len();
    }

    /// Undoes what was done since the mark.
    pub fn go_back(&mut self) {
        for (account, held) in self.before.drain(..).rev() {
            self.accounts.insert(account, held);
        }
        for undone in self.transfers.drain(self.mark..) {
            self.legs.remove(&(undone.cause, undone.leg));
        }
    }

    /// An account that is about to change.
    pub(crate) fn account_mut(&mut self, account: Account) -> Result<&mut Held, StoreError> {
        let held = self.accounts.get_mut(&account);
        let held = held.ok_or_else(|| StoreError::Broken(format!("there is no account {account:?}")))?;
        self.before.push((account, held.clone()));
        Ok(held)
    }
}

//! The loaded accounts, and the transfers between them.

use std::collections::{BTreeMap, HashSet};

use super::rules::LedgerError;
#[cfg(feature = "memory")]
use super::rules::require_rule;
use super::{AccountState, Transfer};
use crate::money::{Points, PointsPerDollar};
use crate::values::JournalEntryId;
use crate::wallets::Account;

/// Loaded accounts, and the transfers made between them since they were loaded.
///
/// The accounts are in the order in which the databases lock them: by kind, then by owner.
#[derive(Debug, Clone, Default)]
pub struct AccountBook {
    accounts: BTreeMap<Account, LoadedAccount>,
    transfers: Vec<Transfer>,
    legs: HashSet<(JournalEntryId, u32)>,
    /// The previous values of the entries that changed since the savepoint, the latest change last.
    undo_log: Vec<(Account, LoadedAccount)>,
    /// The number of transfers at the savepoint.
    savepoint: usize,
}

#[derive(Debug, Clone, Default)]
struct LoadedAccount {
    /// `None` for an account that was never opened.
    state: Option<AccountState>,
    is_changed: bool,
}

impl AccountBook {
    /// The account; `None` if it is not loaded, or was never opened.
    pub fn account(&self, account: Account) -> Option<&AccountState> {
        self.accounts.get(&account)?.state.as_ref()
    }

    /// The points that an account shows at a rate.
    pub fn shown_points(&self, account: Account, rate: PointsPerDollar) -> Points {
        self.account(account).map(|account| rate.shown_points(account.balance)).unwrap_or_default()
    }

    /// Whether the account was loaded, even if it was never opened.
    pub fn is_loaded(&self, account: Account) -> bool {
        self.accounts.contains_key(&account)
    }

    /// The accounts that changed since they were loaded, in lock order.
    pub fn changed_accounts(&self) -> impl Iterator<Item = (Account, &AccountState)> {
        let changed = self.accounts.iter().filter(|(_, entry)| entry.is_changed);
        changed.filter_map(|(account, entry)| Some((*account, entry.state.as_ref()?)))
    }

    /// All transfers, in the order in which they were made.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Adds a loaded account, whose `state` is absent if it was never opened. Returns false and changes nothing if
    /// the state of the account is already loaded.
    pub fn insert_loaded(&mut self, account: Account, state: Option<AccountState>) -> bool {
        let is_known = self.account(account).is_some();
        if !is_known {
            self.accounts.insert(account, LoadedAccount { state, is_changed: false });
        }
        !is_known
    }

    /// Replaces the states of accounts with the states that another book decided, and adds its transfers.
    #[cfg(feature = "memory")]
    pub(crate) fn apply_changes(
        &mut self,
        changed: impl IntoIterator<Item = (Account, AccountState)>,
        transfers: &[Transfer],
    ) -> Result<(), LedgerError> {
        for (account, state) in changed {
            *self.account_mut(account)? = state;
        }
        for transfer in transfers {
            require_rule(self.add_transfer(transfer.clone()), "a leg is added once")?;
        }
        Ok(())
    }

    /// Sets a savepoint, to which [`roll_back_to_savepoint`](Self::roll_back_to_savepoint) returns.
    pub fn set_savepoint(&mut self) {
        self.undo_log.clear();
        self.savepoint = self.transfers.len();
    }

    /// Undoes every payment since the savepoint. Accounts that were loaded since then stay loaded.
    pub fn roll_back_to_savepoint(&mut self) {
        for (account, entry) in self.undo_log.drain(..).rev() {
            self.accounts.insert(account, entry);
        }
        for undone in self.transfers.drain(self.savepoint..) {
            self.legs.remove(&(undone.entry_id, undone.leg));
        }
    }

    /// Returns the account for modification.
    pub(crate) fn account_mut(&mut self, account: Account) -> Result<&mut AccountState, LedgerError> {
        let entry = self.accounts.get_mut(&account).ok_or(LedgerError::AccountNotLoaded(account))?;
        let before = entry.clone();
        let Some(state) = &mut entry.state else {
            return Err(LedgerError::Broken(format!("account {account:?} does not exist")));
        };
        self.undo_log.push((account, before));
        entry.is_changed = true;
        Ok(state)
    }

    /// Adds a transfer. Returns false if its journal entry already has this leg.
    pub(super) fn add_transfer(&mut self, transfer: Transfer) -> bool {
        let is_new = self.legs.insert((transfer.entry_id, transfer.leg));
        if is_new {
            self.transfers.push(transfer);
        }
        is_new
    }
}

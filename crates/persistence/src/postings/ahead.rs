//! What a posting will need.

use guerdon_domain::idempotency::IdempotencyKey;
use guerdon_domain::ports::Expected;
use guerdon_domain::values::{CompanyId, OccasionId, UserId};
use guerdon_domain::wallets::{Account, WalletType};

/// The most receivers of a posting that goes into a set: larger ones write enough by themselves.
const RECEIVERS_MAX: usize = 16;

/// What a posting will need, as far as it says so before it begins.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) occasion: Option<OccasionId>,
    /// The sender, if it is a user.
    pub(crate) sender: Option<UserId>,
    /// The sender, if it is a company.
    pub(crate) company: Option<CompanyId>,
    pub(crate) receivers: Vec<UserId>,
    /// All accounts that may be debited or credited; of what cannot go into a set, those that it may debit.
    pub(crate) accounts: Vec<Account>,
}

impl Ahead {
    pub(crate) fn expect(&mut self, expected: &Expected<'_>) {
        match expected.payer {
            Account::Wallet(_, sender) => {
                self.sender = Some(sender);
                self.accounts.push(Account::Wallet(WalletType::Peer, sender));
                self.accounts.push(Account::Wallet(WalletType::Manager, sender));
            }
            payer => {
                self.company = Some(payer.owner().into());
                self.accounts.push(payer);
            }
        }
        if expected.receivers.len() > RECEIVERS_MAX {
            return;
        }
        self.occasion = Some(expected.occasion);
        for receiver in expected.receivers {
            self.receivers.push(receiver.owner().into());
            self.accounts.push(*receiver);
        }
    }

    /// Whether it can go into a set.
    pub(crate) fn is_known(&self) -> bool {
        self.occasion.is_some()
    }
}

//! What a journal entry pays: its reason, payers, credited accounts and price. Decisions and audits both use
//! this.

use super::{LedgerError, Moved, Payment};
use crate::model::{Act, JournalEntry, Sender};
use crate::money::{Amount, Points, Price, price};
use crate::values::UserId;
use crate::wallets::{Account, Reason, WalletType};

impl JournalEntry {
    /// The reason of its transfers; `None` if it moves nothing.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.act {
            Act::Founding | Act::Rate | Act::Move { .. } | Act::Amendment { .. } => None,
            Act::Sending(_) => Some(Reason::Recognition),
            Act::Deposit { .. } => Some(Reason::Deposit),
            Act::Withdrawal { .. } => Some(Reason::Withdrawal),
            Act::Distribution { .. } => Some(Reason::PointDistribution),
            Act::Redemption { .. } => Some(Reason::Redemption),
            Act::Refund { .. } => Some(Reason::Refund),
            Act::Override { .. } => Some(Reason::Override),
            Act::Deletion { .. } => Some(Reason::UserDeleted),
        }
    }

    /// The accounts that may pay, in order of preference. A user who is not a manager has no manager wallet.
    pub(crate) fn payers(&self) -> Vec<Account> {
        let company = self.company_id;
        match &self.act {
            Act::Founding | Act::Rate | Act::Move { .. } | Act::Amendment { .. } => Vec::new(),
            Act::Sending(sending) => match sending.sender {
                Sender::Company(id) => vec![Account::Reserve(id)],
                Sender::User(id) => {
                    vec![Account::Wallet(WalletType::Peer, id), Account::Wallet(WalletType::Manager, id)]
                }
            },
            Act::Deposit { .. } => vec![Account::Funding(company)],
            Act::Withdrawal { .. } | Act::Distribution { .. } => vec![Account::Reserve(company)],
            Act::Redemption { user, .. } => vec![Account::Wallet(WalletType::User, *user)],
            Act::Refund { .. } => vec![Account::Redeemed(company)],
            Act::Override { user, wallet, .. } => {
                vec![Account::Wallet(*wallet, *user), Account::Reserve(company)]
            }
            Act::Deletion { user, .. } => Account::of_user(*user).to_vec(),
        }
    }

    /// The credited account. `receiver` is the user who receives a recognition, a distribution or a refund;
    /// without a receiver those credit no account. An override credits the one of its two payers that does
    /// not pay.
    pub(crate) fn credit(&self, receiver: Option<UserId>) -> Option<Account> {
        let company = self.company_id;
        let wallet = |wallet| receiver.map(|receiver| Account::Wallet(wallet, receiver));
        match &self.act {
            Act::Founding | Act::Rate | Act::Move { .. } | Act::Amendment { .. } => None,
            Act::Sending(_) | Act::Refund { .. } => wallet(WalletType::User),
            Act::Distribution { wallet: kind, .. } => wallet(*kind),
            Act::Deposit { .. } | Act::Deletion { .. } => Some(Account::Reserve(company)),
            Act::Withdrawal { .. } => Some(Account::Funding(company)),
            Act::Redemption { .. } => Some(Account::Redeemed(company)),
            Act::Override { .. } => None,
        }
    }

    /// The price at the entry's rate; `redeemed` is the amount that a refund returns. `None` if the entry has
    /// no price, or an amount is out of range.
    pub(crate) fn price(&self, redeemed: Option<Amount>) -> Option<Price> {
        match &self.act {
            Act::Sending(sending) => price(self.rate, sending.points, sending.receivers.into()),
            Act::Distribution { points, receivers, .. } => price(self.rate, *points, (*receivers).into()),
            Act::Deposit { points } | Act::Withdrawal { points } | Act::Redemption { points, .. } => {
                price(self.rate, *points, 1)
            }
            Act::Refund { points, .. } => {
                redeemed.and_then(|amount| Price::exactly(self.rate, amount, *points))
            }
            // The amounts depend on the balances of the wallets.
            Act::Override { .. } | Act::Deletion { .. } => None,
            Act::Founding | Act::Rate | Act::Move { .. } | Act::Amendment { .. } => None,
        }
    }

    /// The points for each receiver. For an override: the points that the wallet shows afterwards.
    pub(crate) fn points(&self) -> Points {
        match &self.act {
            Act::Sending(sending) => sending.points,
            Act::Deposit { points }
            | Act::Withdrawal { points }
            | Act::Distribution { points, .. }
            | Act::Redemption { points, .. }
            | Act::Refund { points, .. }
            | Act::Override { points, .. } => *points,
            Act::Deletion { .. } | Act::Founding | Act::Rate | Act::Move { .. } | Act::Amendment { .. } => {
                Points::ZERO
            }
        }
    }
}

impl<'a> Payment<'a> {
    /// The payment of a journal entry.
    ///
    /// # Errors
    ///
    /// If entries of this kind move nothing.
    pub fn of(cause: &JournalEntry, moved: Moved<'a>) -> Result<Self, LedgerError> {
        let moves_nothing = || LedgerError::Broken(format!("cause {} moves nothing", cause.id));
        let reason = cause.reason().ok_or_else(moves_nothing)?;
        let (company, rate, at) = (cause.company_id, cause.rate, cause.created_at);
        Ok(Self { company, cause: cause.id, reason, rate, moved, at })
    }
}

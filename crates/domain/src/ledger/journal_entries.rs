//! What a journal entry pays: its reason, payers, credited accounts and price. Decisions and audits both use
//! this.

use super::{LedgerError, Payment, PaymentKind};
use crate::model::{EntryKind, JournalEntry, Sender};
use crate::money::{Amount, Points, Price, payment_price};
use crate::values::UserId;
use crate::wallets::{Account, Reason, WalletType};

impl JournalEntry {
    /// The reason of the entry's transfers; `None` if the entry moves nothing.
    pub(crate) fn transfer_reason(&self) -> Option<Reason> {
        match self.kind {
            EntryKind::CompanyCreation
            | EntryKind::RateChange
            | EntryKind::CompanyTransfer { .. }
            | EntryKind::Amendment { .. } => None,
            EntryKind::Recognition(_) => Some(Reason::Recognition),
            EntryKind::Deposit { .. } => Some(Reason::Deposit),
            EntryKind::Withdrawal { .. } => Some(Reason::Withdrawal),
            EntryKind::Distribution { .. } => Some(Reason::PointDistribution),
            EntryKind::Redemption { .. } => Some(Reason::Redemption),
            EntryKind::Refund { .. } => Some(Reason::Refund),
            EntryKind::Override { .. } => Some(Reason::Override),
            EntryKind::UserDeletion { .. } => Some(Reason::UserDeleted),
        }
    }

    /// The accounts that may pay, in order of preference. Includes the manager wallet of every sender; the
    /// caller removes it if the user is not a manager.
    pub(crate) fn possible_payers(&self) -> Vec<Account> {
        let company = self.company_id;
        match &self.kind {
            EntryKind::CompanyCreation
            | EntryKind::RateChange
            | EntryKind::CompanyTransfer { .. }
            | EntryKind::Amendment { .. } => Vec::new(),
            EntryKind::Recognition(sent) => match sent.sender {
                Sender::Company(id) => vec![Account::Reserve(id)],
                Sender::User(id) => {
                    vec![Account::Wallet(WalletType::Peer, id), Account::Wallet(WalletType::Manager, id)]
                }
            },
            EntryKind::Deposit { .. } => vec![Account::Funding(company)],
            EntryKind::Withdrawal { .. } | EntryKind::Distribution { .. } => vec![Account::Reserve(company)],
            EntryKind::Redemption { user, .. } => vec![Account::Wallet(WalletType::User, *user)],
            EntryKind::Refund { .. } => vec![Account::Redeemed(company)],
            EntryKind::Override { user, wallet, .. } => {
                vec![Account::Wallet(*wallet, *user), Account::Reserve(company)]
            }
            EntryKind::UserDeletion { user, .. } => Account::user_wallets(*user).to_vec(),
        }
    }

    /// The credited account. `receiver` is the user who receives a recognition, a distribution or a refund;
    /// without a receiver, such entries credit no account. An override credits whichever of its two possible
    /// payers does not pay.
    pub(crate) fn credited_account(&self, receiver: Option<UserId>) -> Option<Account> {
        let company = self.company_id;
        let wallet = |wallet| receiver.map(|receiver| Account::Wallet(wallet, receiver));
        match &self.kind {
            EntryKind::CompanyCreation
            | EntryKind::RateChange
            | EntryKind::CompanyTransfer { .. }
            | EntryKind::Amendment { .. }
            | EntryKind::Override { .. } => None,
            EntryKind::Recognition(_) | EntryKind::Refund { .. } => wallet(WalletType::User),
            EntryKind::Distribution { wallet: kind, .. } => wallet(*kind),
            EntryKind::Deposit { .. } | EntryKind::UserDeletion { .. } => Some(Account::Reserve(company)),
            EntryKind::Withdrawal { .. } => Some(Account::Funding(company)),
            EntryKind::Redemption { .. } => Some(Account::Redeemed(company)),
        }
    }

    /// The price at the entry's rate; `redeemed` is the amount that a refund returns. `None` if the entry has
    /// no price, or an amount is out of range.
    pub(crate) fn price_per_receiver(&self, redeemed: Option<Amount>) -> Option<Price> {
        match &self.kind {
            EntryKind::Recognition(sent) => payment_price(self.rate, sent.points, sent.receivers.into()),
            EntryKind::Distribution { points, receivers, .. } => {
                payment_price(self.rate, *points, (*receivers).into())
            }
            EntryKind::Deposit { points }
            | EntryKind::Withdrawal { points }
            | EntryKind::Redemption { points, .. } => payment_price(self.rate, *points, 1),
            EntryKind::Refund { points, .. } => {
                redeemed.and_then(|amount| Price::for_exact_amount(self.rate, amount, *points))
            }
            // The amounts of an override and of a deletion depend on the balances of the wallets.
            EntryKind::Override { .. }
            | EntryKind::UserDeletion { .. }
            | EntryKind::CompanyCreation
            | EntryKind::RateChange
            | EntryKind::CompanyTransfer { .. }
            | EntryKind::Amendment { .. } => None,
        }
    }

    /// The points for each receiver. For an override: the points that the wallet shows afterwards.
    pub(crate) fn points_per_receiver(&self) -> Points {
        match &self.kind {
            EntryKind::Recognition(sent) => sent.points,
            EntryKind::Deposit { points }
            | EntryKind::Withdrawal { points }
            | EntryKind::Distribution { points, .. }
            | EntryKind::Redemption { points, .. }
            | EntryKind::Refund { points, .. }
            | EntryKind::Override { points, .. } => *points,
            EntryKind::UserDeletion { .. }
            | EntryKind::CompanyCreation
            | EntryKind::RateChange
            | EntryKind::CompanyTransfer { .. }
            | EntryKind::Amendment { .. } => Points::ZERO,
        }
    }
}

impl<'a> Payment<'a> {
    /// The payment of a journal entry, at the time of the entry.
    ///
    /// # Errors
    ///
    /// If entries of this kind move nothing.
    pub fn for_entry(entry: &JournalEntry, kind: PaymentKind<'a>) -> Result<Self, LedgerError> {
        let moves_nothing = || LedgerError::Broken(format!("journal entry {} has no transfers", entry.id));
        let reason = entry.transfer_reason().ok_or_else(moves_nothing)?;
        let (company, rate, at) = (entry.company_id, entry.rate, entry.created_at);
        Ok(Self { company, entry_id: entry.id, reason, rate, kind, at })
    }
}

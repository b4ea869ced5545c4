//! The input and the outcome of a payment.

use super::LedgerError;
use crate::money::{Amount, Points, PointsPerDollar, Price};
use crate::values::{CompanyId, JournalEntryId, Timestamp};
use crate::wallets::{Account, Reason};

/// A movement of points for one journal entry.
#[derive(Debug, Clone, Copy)]
pub struct Payment<'a> {
    /// The company that owns the accounts.
    pub company: CompanyId,
    /// The journal entry, whose legs are the transfers.
    pub entry_id: JournalEntryId,
    /// The reason that the transfers record.
    pub reason: Reason,
    /// The rate of the price.
    pub rate: PointsPerDollar,
    pub kind: PaymentKind<'a>,
    /// When the points move: the time of the journal entry, or of a later step of a distribution.
    pub at: Timestamp,
}

/// The kind of a payment, with its amounts and accounts.
#[derive(Debug, Clone, Copy)]
pub enum PaymentKind<'a> {
    /// Pays the same price to each receiver, all from one payer.
    PricePerReceiver {
        /// The possible payers in order of preference, all of them inside accounts or a single outside
        /// account. The first one that covers the whole price pays.
        payers: &'a [Account],
        /// The credited accounts: all of one kind, each at most once.
        credits: &'a [Account],
        /// The credit of each receiver, the total, and the balance that the payer must have. A price of zero
        /// moves nothing, but payer and receivers must be open.
        price: Price,
        /// Points for each receiver.
        points: Points,
    },
    /// Moves everything that these wallets hold, and closes all of them, including empty ones.
    EmptyWallets {
        /// Wallets of one user.
        wallets: &'a [Account],
        /// The account that is credited.
        to: Account,
    },
    /// Makes a single transfer, as one leg of a journal entry that has other legs.
    SingleLeg {
        /// The account that pays.
        from: Account,
        /// The account that is credited; it is never closed.
        to: Account,
        /// The amount, and the balance that the payer must have.
        price: Price,
        /// The number of the leg.
        leg: u32,
    },
    /// Pays the same amount to each receiver from an account that holds the total. Closed receivers get
    /// nothing.
    SharePerReceiver {
        /// The account that pays.
        from: Account,
        /// The credited accounts: all of one kind, each at most once.
        to: &'a [Account],
        /// The leg of the first receiver. Each further receiver has the next leg, whether it is paid or not.
        first_leg: u32,
        /// The amount for each receiver.
        each: Amount,
        /// Points for each receiver.
        points: Points,
    },
    /// Makes a wallet show `points`: moves the difference from or to the reserve. Moves nothing if the wallet
    /// already shows them.
    SetBalance {
        wallet: Account,
        reserve: Account,
        /// The points that the wallet shows afterwards.
        points: Points,
    },
}

/// How a payment ended. After anything except `Paid` the caller rolls back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentOutcome {
    /// The payment was made.
    Paid(Paid),
    /// No payer covers the price.
    InsufficientFunds,
    /// An account that the payment would credit, or whose balance it would set, is closed or was never
    /// opened.
    AccountClosed,
}

/// The result of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paid {
    /// The number of transfers, not counting a rounding.
    pub transfer_count: u32,
    /// Set if the payment took the reserve below its alert threshold; `None` if the reserve was already below it.
    pub threshold_crossing: Option<ThresholdCrossing>,
}

/// The alert threshold of a reserve, and its balance after the payment that took it below the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdCrossing {
    /// The smallest balance that is not low, as it is stored with the account.
    pub threshold: Amount,
    pub balance: Amount,
}

impl PaymentOutcome {
    /// Returns the result of a payment that can be refused only if the ledger is damaged. A refusal becomes
    /// an error.
    pub fn expect_paid(self) -> Result<Paid, LedgerError> {
        match self {
            Self::Paid(paid) => Ok(paid),
            Self::InsufficientFunds | Self::AccountClosed => {
                Err(LedgerError::Broken("a payment that cannot be refused was refused".into()))
            }
        }
    }
}

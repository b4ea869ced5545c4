//! What a payment is asked to do, and how it ended.

use super::LedgerError;
use crate::money::{Amount, Points, PointsPerDollar, Price};
use crate::values::{CauseId, CompanyId, Timestamp};
use crate::wallets::{Account, Reason};

/// A movement of points for one cause: its transfers, which balance.
#[derive(Debug, Clone, Copy)]
pub struct Payment<'a> {
    /// The company whose accounts these are.
    pub company: CompanyId,
    /// Why, in full; its transfers are the legs of it.
    pub cause: CauseId,
    /// Why, in a word.
    pub reason: Reason,
    /// The rate that prices it.
    pub rate: PointsPerDollar,
    pub moved: Moved<'a>,
    pub at: Timestamp,
}

/// What is moved, from whom, to whom.
#[derive(Debug, Clone, Copy)]
pub enum Moved<'a> {
    /// The same price to each receiver, all of it from one payer.
    Price {
        /// Who may pay, all inside or one outside, in order of preference: the first that alone covers the price.
        payers: &'a [Account],
        /// Who is credited, all accounts of one kind, each at most once.
        credits: &'a [Account],
        /// What each is credited, what it costs and what the payer must hold. One of nothing moves nothing, but payer
        /// and receivers must be open.
        price: Price,
        /// Points for each.
        points: Points,
    },
    /// All that these hold; they are closed, those that hold nothing too.
    Everything {
        /// Wallets of one user.
        wallets: &'a [Account],
        /// Where it goes.
        to: Account,
    },
    /// One sum, as one leg of a cause that has others.
    Sum {
        /// Who pays.
        from: Account,
        /// Who receives; never closed.
        to: Account,
        /// What is moved, and what the payer must hold.
        price: Price,
        /// Which leg it is.
        leg: u32,
    },
    /// The same to each of several receivers, out of a sum that was set aside for it. Whoever is closed gets nothing.
    Share {
        /// Who pays.
        from: Account,
        /// Who is credited, all accounts of one kind, each at most once.
        to: &'a [Account],
        /// The leg of the first; each of the others has the next, got it anything or not.
        first_leg: u32,
        /// What each is credited.
        each: Amount,
        /// Points for each.
        points: Points,
    },
    /// What makes a wallet show so many points, from the reserve or to it; nothing where it does already.
    Difference {
        wallet: Account,
        reserve: Account,
        /// What it is to show.
        points: Points,
    },
}

/// How a payment ended. Anything but `Paid` leaves the transaction to be rolled back by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentOutcome {
    /// Done.
    Paid(Paid),
    /// No payer covers the price.
    Insufficient,
    /// An account to be credited or replaced is closed or was never opened.
    Closed,
}

/// What a payment did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paid {
    /// How many transfers it made, that of a rounding not counted.
    pub transfers: u32,
    /// What the reserve holds, where this payment took it from at or above its alert to below.
    pub low: Option<Amount>,
}

impl PaymentOutcome {
    /// For a payment that cannot be refused while the ledger is whole.
    pub fn certain(self) -> Result<Paid, LedgerError> {
        match self {
            Self::Paid(paid) => Ok(paid),
            Self::Insufficient | Self::Closed => {
                Err(LedgerError::Broken("a payment was refused that never can be".into()))
            }
        }
    }
}

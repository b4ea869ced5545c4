//! Why a distribution is refused.

use crate::money::NotWholePoints;
use crate::ports::StoreError;
use crate::values::UserId;

/// Why nothing was distributed.
#[derive(Debug, thiserror::Error)]
pub enum DistributeError {
    #[error("no company has this id")]
    NoSuchCompany,
    /// A user is not an active user of the company.
    #[error("user {0} is not an active user of the company")]
    NoSuchUser(UserId),
    /// A user occurs twice.
    #[error("a user is named twice")]
    Duplicate,
    /// A user has no usable manager wallet.
    #[error("user {0} is not a manager")]
    NotAManager(UserId),
    /// There are no receivers.
    #[error("the company has nobody who has such a wallet")]
    Nobody,
    /// The points are zero or too many.
    #[error("points must be at least 1, and the total must be a possible amount")]
    OutOfRange,
    /// The reserve does not cover the total.
    #[error("Insufficient funds")]
    InsufficientFunds,
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The schedule has changed since it was read.
    #[error("the schedule has changed")]
    Overtaken,
    #[error(transparent)]
    Store(#[from] StoreError),
}

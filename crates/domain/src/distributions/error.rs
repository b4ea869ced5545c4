//! Why a distribution is refused.

use crate::money::{NotWholePoints, Points};
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
    #[error("user {0} is listed twice")]
    Duplicate(UserId),
    /// A user has no usable manager wallet.
    #[error("user {0} is not a manager")]
    NotAManager(UserId),
    /// There are no receivers.
    #[error("no active user of the company has such a wallet")]
    NoReceivers,
    /// The points are zero or too many.
    #[error("points must be at least 1, and the total must not exceed the largest amount")]
    OutOfRange,
    /// The reserve does not cover the total.
    #[error("Insufficient funds: {} needed, but the reserve holds {}", .needed.to_text(), .available.to_text())]
    InsufficientFunds { needed: Points, available: Points },
    #[error(transparent)]
    NotWholePoints(#[from] NotWholePoints),
    /// The schedule has changed since it was read.
    #[error("the schedule has changed since it was read: run the command again")]
    ScheduleChanged,
    #[error(transparent)]
    Store(#[from] StoreError),
}

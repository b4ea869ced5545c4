//! Why a command was not done, as one line.

use guerdon_domain::companies::{MoveCompanyError, OptionsError};
use guerdon_domain::distributions::{DistributeError, ScheduleError};
use guerdon_domain::events::ReplayError;
use guerdon_domain::overrides::ReplaceError;
use guerdon_domain::ports::StoreError;
use guerdon_domain::providers::ChangeProviderError;
use guerdon_domain::recognitions::UpdateRecognitionError;
use guerdon_domain::redemptions::{RedeemError, RefundError};
use guerdon_domain::reserve::DepositError;

use crate::keys::SealedError;

/// Why a command was not done.
#[derive(Debug)]
pub enum CommandError {
    /// A rule refuses it.
    Refused(String),
    /// Another command with the same `--key` is under way.
    KeyInUse,
    /// The store failed.
    Store(StoreError),
    /// The machine failed.
    Failed(String),
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) | Self::Failed(why) => f.write_str(why),
            Self::KeyInUse => f.write_str("a command with this key is still running: try again"),
            Self::Store(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for CommandError {}

impl CommandError {
    pub(super) fn refused(why: impl ToString) -> Self {
        Self::Refused(why.to_string())
    }

    pub(super) fn failed(cause: &anyhow::Error) -> Self {
        Self::Failed(format!("{cause:#}"))
    }
}

impl From<StoreError> for CommandError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

impl From<SealedError> for CommandError {
    fn from(cause: SealedError) -> Self {
        Self::Failed(cause.to_string())
    }
}

impl From<DepositError> for CommandError {
    fn from(cause: DepositError) -> Self {
        match cause {
            DepositError::Store(cause) => Self::Store(cause),
            DepositError::NoSuchCompany | DepositError::OutOfRange => Self::refused(cause),
        }
    }
}

impl From<OptionsError> for CommandError {
    fn from(cause: OptionsError) -> Self {
        match cause {
            OptionsError::Store(cause) => Self::Store(cause),
            OptionsError::NoSuchCompany => Self::refused(cause),
        }
    }
}

impl From<MoveCompanyError> for CommandError {
    fn from(cause: MoveCompanyError) -> Self {
        match cause {
            MoveCompanyError::Store(cause) => Self::Store(cause),
            MoveCompanyError::NoSuchCompany
            | MoveCompanyError::NoSuchProvider
            | MoveCompanyError::SameProvider => Self::refused(cause),
        }
    }
}

impl From<DistributeError> for CommandError {
    fn from(cause: DistributeError) -> Self {
        match cause {
            DistributeError::Store(cause) => Self::Store(cause),
            DistributeError::NoSuchCompany
            | DistributeError::NoSuchUser(_)
            | DistributeError::Duplicate
            | DistributeError::NotAManager(_)
            | DistributeError::Nobody
            | DistributeError::OutOfRange
            | DistributeError::AlreadyPaid
            | DistributeError::InsufficientFunds => Self::refused(cause),
        }
    }
}

impl From<ScheduleError> for CommandError {
    fn from(cause: ScheduleError) -> Self {
        match cause {
            ScheduleError::Store(cause) => Self::Store(cause),
            ScheduleError::NoSuchCompany | ScheduleError::NoSuchSchedule | ScheduleError::OutOfRange => {
                Self::refused(cause)
            }
        }
    }
}

impl From<UpdateRecognitionError> for CommandError {
    fn from(cause: UpdateRecognitionError) -> Self {
        match cause {
            UpdateRecognitionError::Store(cause) => Self::Store(cause),
            UpdateRecognitionError::NoSuchRecognition => Self::refused(cause),
        }
    }
}

impl From<RedeemError> for CommandError {
    fn from(cause: RedeemError) -> Self {
        match cause {
            RedeemError::Store(cause) => Self::Store(cause),
            RedeemError::NoSuchUser | RedeemError::OutOfRange | RedeemError::InsufficientFunds => {
                Self::refused(cause)
            }
        }
    }
}

impl From<RefundError> for CommandError {
    fn from(cause: RefundError) -> Self {
        match cause {
            RefundError::Store(cause) => Self::Store(cause),
            RefundError::NoSuchRedemption | RefundError::AlreadyRefunded | RefundError::UserDeleted => {
                Self::refused(cause)
            }
        }
    }
}

impl From<ReplaceError> for CommandError {
    fn from(cause: ReplaceError) -> Self {
        match cause {
            ReplaceError::Store(cause) => Self::Store(cause),
            ReplaceError::NoSuchUser
            | ReplaceError::NoSuchWallet
            | ReplaceError::OutOfRange
            | ReplaceError::InsufficientFunds => Self::refused(cause),
        }
    }
}

impl From<ReplayError> for CommandError {
    fn from(cause: ReplayError) -> Self {
        match cause {
            ReplayError::Store(cause) => Self::Store(cause),
            ReplayError::NoSuchEvent(_) | ReplayError::NoSuchProvider => Self::refused(cause),
        }
    }
}

impl From<ChangeProviderError> for CommandError {
    fn from(cause: ChangeProviderError) -> Self {
        match cause {
            ChangeProviderError::Store(cause) => Self::Store(cause),
            ChangeProviderError::NoSuchProvider => Self::refused(cause),
        }
    }
}

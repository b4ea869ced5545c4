//! Any command that moves points.

use crate::decide::{Decide, Deciding, Undecided};
use crate::distributions::{ContinueDistribution, DistributeError, Distribution, RunDistribution};
use crate::ledger::{Facts, LedgerError, Needs};
use crate::model::{Recognition, Redemption};
use crate::money::BalanceChange;
use crate::overrides::{ReplaceBalance, ReplaceError};
use crate::ports::StoreError;
use crate::recognitions::{SendError, SendRecognition};
use crate::redemptions::{Redeem, RedeemError, Refund, RefundError};
use crate::reserve::{ChangeReserve, ReserveError};
use crate::users::{DeleteUser, DeleteUserError};

/// A command that moves points, for one provider.
#[derive(Debug, Clone)]
pub enum Command {
    SendRecognition(SendRecognition),
    DeleteUser(DeleteUser),
    ChangeReserve(ChangeReserve),
    ReplaceBalance(ReplaceBalance),
    Redeem(Redeem),
    Refund(Refund),
    RunDistribution(RunDistribution),
    ContinueDistribution(ContinueDistribution),
}

/// The result of a command.
#[derive(Debug, Clone)]
pub enum Done {
    Sent(Vec<Recognition>),
    Deleted,
    /// The reserve was changed.
    ReserveChanged(BalanceChange),
    /// The wallet was replaced.
    Replaced(BalanceChange),
    /// The redemption, and the change of the user's earned wallet.
    Redeemed(Redemption, BalanceChange),
    /// The refunded redemption, and the change of the user's earned wallet.
    Refunded(Redemption, BalanceChange),
    Distributed(Distribution),
    /// The number of receivers of the step; `None` if the distribution had already ended.
    Continued(Option<usize>),
}

/// Why a command was refused, or failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum Refusal {
    Send(#[from] SendError),
    DeleteUser(#[from] DeleteUserError),
    Reserve(#[from] ReserveError),
    Replace(#[from] ReplaceError),
    Redeem(#[from] RedeemError),
    Refund(#[from] RefundError),
    Distribute(#[from] DistributeError),
    Store(#[from] StoreError),
}

/// Evaluates an expression for every kind of command.
macro_rules! on_command {
    ($command:expr, $it:ident => $then:expr) => {
        match $command {
            Command::SendRecognition($it) => $then,
            Command::DeleteUser($it) => $then,
            Command::ChangeReserve($it) => $then,
            Command::ReplaceBalance($it) => $then,
            Command::Redeem($it) => $then,
            Command::Refund($it) => $then,
            Command::RunDistribution($it) => $then,
            Command::ContinueDistribution($it) => $then,
        }
    };
}

impl Decide for Command {
    type Done = Done;
    type Refusal = Refusal;

    fn needs(&self) -> Needs {
        on_command!(self, it => it.needs())
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        on_command!(self, it => it.further_needs(facts))
    }

    fn size(&self) -> usize {
        on_command!(self, it => it.size())
    }

    fn decide(&self, on: &mut Deciding<'_>) -> Result<Done, Undecided<Refusal>> {
        macro_rules! decide {
            ($it:expr, $done:expr) => {
                $it.decide(on).map($done).map_err(Undecided::map)
            };
        }
        match self {
            Self::SendRecognition(it) => decide!(it, Done::Sent),
            Self::DeleteUser(it) => decide!(it, |()| Done::Deleted),
            Self::ChangeReserve(it) => decide!(it, Done::ReserveChanged),
            Self::ReplaceBalance(it) => decide!(it, Done::Replaced),
            Self::Redeem(it) => decide!(it, |(redemption, wallet)| Done::Redeemed(redemption, wallet)),
            Self::Refund(it) => decide!(it, |(redemption, wallet)| Done::Refunded(redemption, wallet)),
            Self::RunDistribution(it) => decide!(it, Done::Distributed),
            Self::ContinueDistribution(it) => decide!(it, Done::Continued),
        }
    }
}

impl Refusal {
    /// The store's failure, if that is the reason.
    ///
    /// # Errors
    ///
    /// The refusal itself, if a rule refused the command.
    pub fn into_failure(self) -> Result<StoreError, Self> {
        match self {
            Self::Send(SendError::Store(cause))
            | Self::DeleteUser(DeleteUserError::Store(cause))
            | Self::Reserve(ReserveError::Store(cause))
            | Self::Replace(ReplaceError::Store(cause))
            | Self::Redeem(RedeemError::Store(cause))
            | Self::Refund(RefundError::Store(cause))
            | Self::Distribute(DistributeError::Store(cause))
            | Self::Store(cause) => Ok(cause),
            refused => Err(refused),
        }
    }
}

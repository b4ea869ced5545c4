//! Any command that moves points.

use crate::decide::{Decide, DecideError, DecisionState};
use crate::distributions::{ContinueDistribution, DistributeError, Distribution, RunDistribution};
use crate::ledger::{Facts, LedgerError, Needs};
use crate::model::{Recognition, Redemption};
use crate::money::BalanceChange;
use crate::overrides::{OverrideBalance, OverrideError};
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
    OverrideBalance(OverrideBalance),
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
    /// The balance of a wallet was overridden.
    BalanceOverridden(BalanceChange),
    /// The redemption, and the change of the user's `user_wallet`.
    Redeemed(Redemption, BalanceChange),
    /// The refunded redemption, and the change of the user's `user_wallet`.
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
    Override(#[from] OverrideError),
    Redeem(#[from] RedeemError),
    Refund(#[from] RefundError),
    Distribute(#[from] DistributeError),
    Store(#[from] StoreError),
}

/// Evaluates the same expression for every variant of `Command`, with `$inner` bound to its content.
macro_rules! on_command {
    ($command:expr, $inner:ident => $result:expr) => {
        match $command {
            Command::SendRecognition($inner) => $result,
            Command::DeleteUser($inner) => $result,
            Command::ChangeReserve($inner) => $result,
            Command::OverrideBalance($inner) => $result,
            Command::Redeem($inner) => $result,
            Command::Refund($inner) => $result,
            Command::RunDistribution($inner) => $result,
            Command::ContinueDistribution($inner) => $result,
        }
    };
}

impl Decide for Command {
    type Done = Done;
    type Refusal = Refusal;

    fn initial_needs(&self) -> Needs {
        on_command!(self, inner => inner.initial_needs())
    }

    fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        on_command!(self, inner => inner.further_needs(facts))
    }

    fn affected_count(&self) -> usize {
        on_command!(self, inner => inner.affected_count())
    }

    fn decide(&self, state: &mut DecisionState<'_>) -> Result<Done, DecideError<Refusal>> {
        macro_rules! decide {
            ($inner:expr, $done:expr) => {
                $inner.decide(state).map($done).map_err(DecideError::map_refusal)
            };
        }
        match self {
            Self::SendRecognition(inner) => decide!(inner, Done::Sent),
            Self::DeleteUser(inner) => decide!(inner, |()| Done::Deleted),
            Self::ChangeReserve(inner) => decide!(inner, Done::ReserveChanged),
            Self::OverrideBalance(inner) => decide!(inner, Done::BalanceOverridden),
            Self::Redeem(inner) => decide!(inner, |(redemption, wallet)| Done::Redeemed(redemption, wallet)),
            Self::Refund(inner) => decide!(inner, |(redemption, wallet)| Done::Refunded(redemption, wallet)),
            Self::RunDistribution(inner) => decide!(inner, Done::Distributed),
            Self::ContinueDistribution(inner) => decide!(inner, Done::Continued),
        }
    }
}

impl Refusal {
    /// Returns the store's error if the store failed.
    ///
    /// # Errors
    ///
    /// The refusal itself, if a rule refused the command.
    pub fn into_failure(self) -> Result<StoreError, Self> {
        match self {
            Self::Send(SendError::Store(cause))
            | Self::DeleteUser(DeleteUserError::Store(cause))
            | Self::Reserve(ReserveError::Store(cause))
            | Self::Override(OverrideError::Store(cause))
            | Self::Redeem(RedeemError::Store(cause))
            | Self::Refund(RefundError::Store(cause))
            | Self::Distribute(DistributeError::Store(cause))
            | Self::Store(cause) => Ok(cause),
            refused => Err(refused),
        }
    }
}

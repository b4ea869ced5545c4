//! A command, what it needs, and its decision.

use crate::ledger::{AccountBook, Changes, Facts, LedgerError, Needs};
use crate::model::Recognition;
use crate::ports::{Context, StoreError, Undecided};
use crate::recognitions::send;
use crate::recognitions::{SendError, SendRecognition};
use crate::users::DeleteUserError;
use crate::users::delete;
use crate::values::{ProviderId, UserId};

/// A command that moves points, for one provider.
#[derive(Debug, Clone)]
pub enum Command {
    SendRecognition(SendRecognition),
    DeleteUser(UserId),
}

/// What a command did.
#[derive(Debug, Clone)]
pub enum Done {
    Sent(Vec<Recognition>),
    Deleted,
}

/// Why a command was refused, or failed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Send(#[from] SendError),
    #[error(transparent)]
    DeleteUser(#[from] DeleteUserError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Command {
    /// What the command alone says that its decision needs.
    pub fn needs(&self) -> Needs {
        match self {
            Self::SendRecognition(command) => send::needs(command),
            Self::DeleteUser(id) => delete::needs(*id),
        }
    }

    /// What else the decision can need, as far as the facts say.
    ///
    /// # Errors
    ///
    /// If what [`needs`](Self::needs) says is not loaded.
    pub fn further_needs(&self, facts: &Facts) -> Result<Needs, LedgerError> {
        match self {
            Self::SendRecognition(command) => send::further_needs(command, facts),
            Self::DeleteUser(id) => delete::further_needs(*id, facts),
        }
    }

    /// The number of people or things that the command changes: a measure of the time that it takes.
    pub fn size(&self) -> usize {
        match self {
            Self::SendRecognition(command) => command.receivers.ids().len(),
            Self::DeleteUser(_) => 1,
        }
    }

    /// Decides the command on what is loaded. After an error the caller rolls back the book and the changes.
    ///
    /// # Errors
    ///
    /// The refusal; or [`Undecided::NotLoaded`] if the decision depends on more than is loaded.
    pub fn decide(
        &self,
        scope: ProviderId,
        facts: &Facts,
        book: &mut AccountBook,
        changes: &mut Changes,
        context: &Context<'_>,
    ) -> Result<Done, Undecided<Refusal>> {
        match self {
            Self::SendRecognition(command) => {
                let sent = send::decide(scope, command, facts, book, changes, context);
                sent.map(Done::Sent).map_err(Undecided::map)
            }
            Self::DeleteUser(id) => {
                let deleted = delete::decide(scope, *id, facts, book, changes, context);
                deleted.map(|()| Done::Deleted).map_err(Undecided::map)
            }
        }
    }
}

//! The error of a command, which is shown in one line.

use guerdon_domain::commands::Refusal;
use guerdon_domain::ports::StoreError;

use crate::keys::SecretCipherError;

/// Why a command failed or was refused.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// A rule refuses the command.
    Refused(String),
    /// Another command with the same `--key` is in progress.
    KeyInUse,
    /// The store failed.
    Store(StoreError),
    /// Another part failed, such as a file or a mail server.
    Failed(String),
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) | Self::Failed(why) => f.write_str(why),
            Self::KeyInUse => f.write_str("a command with this key is still running: try again"),
            Self::Store(cause @ StoreError::OutcomeUnknown(_)) => {
                write!(
                    f,
                    "{cause}: check the result before you retry. A command with --key can be retried with the same key"
                )
            }
            Self::Store(cause) => cause.fmt(f),
        }
    }
}

impl std::error::Error for CommandError {}

impl CommandError {
    pub(super) fn refused(why: impl ToString) -> Self {
        Self::Refused(why.to_string())
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(cause: anyhow::Error) -> Self {
        Self::Failed(format!("{cause:#}"))
    }
}

impl From<serde_json::Error> for CommandError {
    fn from(cause: serde_json::Error) -> Self {
        Self::Failed(cause.to_string())
    }
}

impl From<StoreError> for CommandError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        refusal.into_failure().map_or_else(Self::refused, Self::Store)
    }
}

impl From<SecretCipherError> for CommandError {
    fn from(cause: SecretCipherError) -> Self {
        Self::Failed(cause.to_string())
    }
}

/// Converts errors of use cases: `Store` is a failure, every other variant is a refusal.
macro_rules! impl_from_errors {
    ($($error:ident),+) => {$(
        impl From<$error> for $crate::commands::CommandError {
            fn from(cause: $error) -> Self {
                match cause {
                    $error::Store(cause) => Self::Store(cause),
                    refused => Self::refused(refused),
                }
            }
        }
    )+};
}

pub(super) use impl_from_errors;

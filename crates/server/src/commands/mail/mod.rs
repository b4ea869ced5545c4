//! `guerdon mail`.

mod list;
mod retry;
mod test;

use guerdon_domain::ports::NotificationState;
use serde::{Deserialize, Serialize};

use crate::commands::group_macro::command_group;

command_group! {
    enum MailCommand {
        /// List emails, newest first.
        List(list::List),
        /// Retry waiting or given-up emails now.
        Retry(retry::Retry),
        /// Send a test email.
        Test(test::Test),
    }
}

/// The names of the states on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StateName {
    /// Waiting for the next attempt.
    Waiting,
    /// Accepted by the mail server, or written to a file.
    Sent,
    /// The final attempt failed.
    GivenUp,
}

impl From<StateName> for NotificationState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Waiting => Self::Waiting,
            StateName::Sent => Self::Sent,
            StateName::GivenUp => Self::GivenUp,
        }
    }
}

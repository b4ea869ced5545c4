//! `guerdon mail`.

mod list;
mod retry;
mod test;

use guerdon_domain::ports::MailState;
use serde::{Deserialize, Serialize};

use crate::commands::group::command_group;

command_group! {
    enum MailCommand {
        /// Show mails, newest first.
        List(list::List),
        /// Send mails again that were given up, or that wait.
        Retry(retry::Retry),
        /// Send a mail at once, to see whether mails arrive.
        Test(test::Test),
    }
}

/// The states by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StateName {
    /// It is tried again.
    Waiting,
    /// The mail server took it, or it was written to a file.
    Sent,
    /// It failed for the last time.
    GivenUp,
}

impl From<StateName> for MailState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Waiting => Self::Waiting,
            StateName::Sent => Self::Sent,
            StateName::GivenUp => Self::GivenUp,
        }
    }
}

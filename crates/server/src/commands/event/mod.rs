//! `guerdon event`, and `guerdon webhook send-example`.

mod list;
mod replay;
pub(super) mod send_example;
mod show;

use guerdon_domain::events::EventState;
use serde::{Deserialize, Serialize};

use crate::commands::group_macro::command_group;

command_group! {
    enum EventCommand {
        /// List events, newest first.
        List(list::List),
        /// Show an event with its body and delivery attempts.
        Show(show::Show),
        /// Replay events: make them due now.
        Replay(replay::Replay),
    }
}

/// The names of the states on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateName {
    /// Waiting for the next attempt.
    Pending,
    /// Confirmed by the receiver.
    Delivered,
    /// The final attempt failed.
    Exhausted,
    /// The provider had no callback URL.
    Unaddressed,
}

impl From<StateName> for EventState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Pending => Self::Pending,
            StateName::Delivered => Self::Delivered,
            StateName::Exhausted => Self::Exhausted,
            StateName::Unaddressed => Self::Unaddressed,
        }
    }
}

//! `guerdon event`, and `guerdon webhook send-example`.

mod list;
mod replay;
pub(super) mod send_example;
mod show;

use guerdon_domain::events::EventState;
use serde::{Deserialize, Serialize};

use crate::commands::group::command_group;

command_group! {
    enum EventCommand {
        /// Show events, newest first.
        List(list::List),
        /// Show one event, its body and the attempts to deliver it.
        Show(show::Show),
        /// Make events due at once.
        Replay(replay::Replay),
    }
}

/// The states by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateName {
    /// Waits for its next attempt.
    Pending,
    /// Confirmed by its receiver.
    Delivered,
    /// Failed for the last time.
    Exhausted,
    /// Its provider had no callback URL.
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

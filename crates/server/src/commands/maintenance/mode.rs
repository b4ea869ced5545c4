//! `guerdon maintenance`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Clock as _, Setting, StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::platform::SystemClock;

/// Turn maintenance mode on or off, or show it.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon maintenance status
  guerdon maintenance off")]
pub(crate) struct Maintenance {
    /// The new state, or `status` to show the current one.
    #[arg(value_enum)]
    state: ModeArgument,
}

/// The argument of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeArgument {
    /// The API responds with 503.
    On,
    /// The API serves requests.
    Off,
    /// Show the current state and since when.
    Status,
}

#[derive(Serialize)]
struct ModeChangeView {
    maintenance: ModeArgument,
}

#[derive(Serialize)]
struct ModeStatusView {
    maintenance: ModeArgument,
    since: Option<String>,
}

impl CommandView for ModeStatusView {
    fn to_text(&self) -> String {
        let state = if self.maintenance == ModeArgument::On { "on" } else { "off" };
        match &self.since {
            Some(since) => format!("maintenance has been {state} since {since}"),
            None => format!("maintenance is {state}"),
        }
    }
}

impl CommandView for ModeChangeView {
    fn to_text(&self) -> String {
        match self.maintenance {
            ModeArgument::On => "maintenance is on: the API responds with 503".to_owned(),
            ModeArgument::Off | ModeArgument::Status => "maintenance is off".to_owned(),
        }
    }
}

impl RunnableCommand for Maintenance {
    fn is_read_only(&self) -> bool {
        self.state == ModeArgument::Status
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        if self.state == ModeArgument::Status {
            return show_mode(environment);
        }
        let value = if self.state == ModeArgument::On { Setting::ON } else { "off" };
        let context = environment.context();
        environment.store.transaction(|tx| -> Result<(), StoreError> {
            if tx.get_setting(Setting::Maintenance)?.as_deref() != Some(value) {
                tx.set_setting(Setting::MaintenanceSince, &SystemClock.now().to_string())?;
                tx.record_audit_entry(
                    &context.new_audit_entry(Action::MaintenanceModeChanged).with_detail(value),
                )?;
            }
            tx.set_setting(Setting::Maintenance, value)
        })?;
        ModeChangeView { maintenance: self.state }.to_output()
    }
}

fn show_mode(environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
    let (value, since) = environment.store.read_snapshot(|reads| -> Result<_, StoreError> {
        Ok((reads.get_setting(Setting::Maintenance)?, reads.get_setting(Setting::MaintenanceSince)?))
    })?;
    let maintenance =
        if value.as_deref() == Some(Setting::ON) { ModeArgument::On } else { ModeArgument::Off };
    ModeStatusView { maintenance, since }.to_output()
}

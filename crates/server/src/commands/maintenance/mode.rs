//! `guerdon maintenance`.

use guerdon_domain::audit_log::Action;
use guerdon_domain::ports::{Clock as _, Setting, StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};
use crate::platform::SystemClock;

/// Turn maintenance mode on or off, or show it.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon maintenance status
  guerdon maintenance off")]
pub(crate) struct Maintenance {
    /// The new state, or `status` to show the current one.
    #[arg(value_enum)]
    state: Switch,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Switch {
    /// The API responds with 503.
    On,
    /// The API serves requests.
    Off,
    /// Show the current state and since when.
    Status,
}

#[derive(Serialize)]
struct Done {
    maintenance: Switch,
}

#[derive(Serialize)]
struct Status {
    maintenance: Switch,
    since: Option<String>,
}

impl View for Status {
    fn text(&self) -> String {
        let state = if self.maintenance == Switch::On { "on" } else { "off" };
        match &self.since {
            Some(since) => format!("maintenance is {state} since {since}"),
            None => format!("maintenance is {state}"),
        }
    }
}

impl View for Done {
    fn text(&self) -> String {
        match self.maintenance {
            Switch::On => "maintenance is on: the API responds with 503".to_owned(),
            Switch::Off | Switch::Status => "maintenance is off".to_owned(),
        }
    }
}

impl Runnable for Maintenance {
    fn is_reading(&self) -> bool {
        self.state == Switch::Status
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        if self.state == Switch::Status {
            return status(environment);
        }
        let value = if self.state == Switch::On { Setting::ON } else { "off" };
        let context = environment.context();
        environment.store.transaction(|tx| -> Result<(), StoreError> {
            if tx.setting(Setting::Maintenance)?.as_deref() != Some(value) {
                tx.set_setting(Setting::MaintenanceSince, &SystemClock.now().to_string())?;
                tx.note(&context.entry(Action::MaintenanceTurned).saying(value))?;
            }
            tx.set_setting(Setting::Maintenance, value)
        })?;
        Done { maintenance: self.state }.output()
    }
}

fn status(environment: &CommandEnvironment) -> Result<Output, CommandError> {
    let (value, since) = environment.store.snapshot(|reads| -> Result<_, StoreError> {
        Ok((reads.setting(Setting::Maintenance)?, reads.setting(Setting::MaintenanceSince)?))
    })?;
    let maintenance = if value.as_deref() == Some(Setting::ON) { Switch::On } else { Switch::Off };
    Status { maintenance, since }.output()
}

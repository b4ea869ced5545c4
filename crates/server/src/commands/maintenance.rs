//! `guerdon maintenance`.

use guerdon_domain::ports::{Setting, StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use super::{CommandError, Output, Runnable, View, Workplace};

/// The value of [`Setting::Maintenance`] while the API answers 503.
pub(crate) const ON: &str = "on";

/// Turns maintenance on or off.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Maintenance {
    /// What it shall be.
    #[arg(value_enum)]
    state: Switch,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Switch {
    /// The API answers 503.
    On,
    /// The API serves.
    Off,
}

#[derive(Serialize)]
struct Done {
    maintenance: Switch,
}

impl View for Done {
    fn text(&self) -> String {
        match self.maintenance {
            Switch::On => "maintenance is on: the API answers 503".to_owned(),
            Switch::Off => "maintenance is off".to_owned(),
        }
    }
}

impl Runnable for Maintenance {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let value = if self.state == Switch::On { ON } else { "off" };
        workplace
            .store
            .transaction(|tx| -> Result<(), StoreError> { tx.set_setting(Setting::Maintenance, value) })?;
        Done { maintenance: self.state }.output()
    }
}

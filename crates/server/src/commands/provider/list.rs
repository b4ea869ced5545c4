//! `guerdon provider list`.

use guerdon_domain::ports::{StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use super::Listed;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider list
  guerdon --output json provider list")]
pub(crate) struct List {}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let providers = environment.store.snapshot(|reads| -> Result<_, StoreError> { reads.providers() })?;
        providers.into_iter().map(Listed::from).collect::<Vec<_>>().output()
    }
}

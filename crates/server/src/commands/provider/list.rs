//! `guerdon provider list`.

use guerdon_domain::ports::{StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use super::Listed;
use crate::commands::{CommandError, Output, Runnable, View, Workplace};

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider list
  guerdon --output json provider list")]
pub(crate) struct List {}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let providers = workplace.store.snapshot(|reads| -> Result<_, StoreError> { reads.providers() })?;
        providers.into_iter().map(Listed::from).collect::<Vec<_>>().output()
    }
}

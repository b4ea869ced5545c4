//! `guerdon provider list`.

use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use super::ProviderView;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon provider list
  guerdon --output json provider list")]
pub(crate) struct List {}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let providers = environment.store.read_snapshot(|reads| reads.list_providers())?;
        providers.into_iter().map(ProviderView::from).collect::<Vec<_>>().to_output()
    }
}

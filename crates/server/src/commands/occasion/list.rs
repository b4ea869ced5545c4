//! `guerdon occasion list-global`.

use guerdon_domain::ports::{StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use super::OccasionView;
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// List global occasions, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon occasion list-global
  guerdon --output json occasion list-global")]
pub(crate) struct ListGlobal {}

impl CommandView for Vec<OccasionView<'_>> {
    fn to_text(&self) -> String {
        if self.is_empty() {
            return "no global occasions; create one with `guerdon occasion create-global`".to_owned();
        }
        let yes_or_no = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let row = |occasion: &OccasionView<'_>| {
            let (id, name, title) =
                (occasion.id.to_string(), occasion.name.to_owned(), occasion.title.to_owned());
            vec![id, name, title, yes_or_no(occasion.enabled), yes_or_no(occasion.visible)]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        format_table(&["id", "name", "title", "enabled", "visible"], &rows)
    }
}

impl RunnableCommand for ListGlobal {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let all = environment
            .store
            .read_snapshot(|reads| -> Result<_, StoreError> { reads.list_global_occasions() })?;
        all.iter().map(OccasionView::from_occasion).collect::<Vec<_>>().to_output()
    }
}

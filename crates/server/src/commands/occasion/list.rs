//! `guerdon occasion list-global`.

use guerdon_domain::ports::{StoreError, StoreExt};
use serde::{Deserialize, Serialize};

use super::Shown;
use crate::commands::output::table;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

/// List global occasions, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon occasion list-global
  guerdon --output json occasion list-global")]
pub(crate) struct ListGlobal {}

impl View for Vec<Shown<'_>> {
    fn text(&self) -> String {
        if self.is_empty() {
            return "no global occasions; create one with `guerdon occasion create-global`".to_owned();
        }
        let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let row = |occasion: &Shown<'_>| {
            let (id, name, title) =
                (occasion.id.to_string(), occasion.name.to_owned(), occasion.title.to_owned());
            vec![id, name, title, yes(occasion.enabled), yes(occasion.visible)]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        table(&["id", "name", "title", "enabled", "visible"], &rows)
    }
}

impl Runnable for ListGlobal {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let all =
            environment.store.snapshot(|reads| -> Result<_, StoreError> { reads.global_occasions() })?;
        all.iter().map(Shown::of).collect::<Vec<_>>().output()
    }
}

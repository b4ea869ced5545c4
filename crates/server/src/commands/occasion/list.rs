//! `guerdon occasion list-global`.

use guerdon_api_types::views::OccasionView;
use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::StoreExt;
use serde::{Deserialize, Serialize};

use super::yes_or_no;
use crate::commands::output::format_table;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// List global occasions, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon occasion list-global
  guerdon --output json occasion list-global")]
pub(crate) struct ListGlobal {}

impl RunnableCommand for ListGlobal {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let occasions = environment.store.read_snapshot(|reads| reads.list_global_occasions())?;
        let views: Vec<_> = occasions.iter().map(OccasionView::from_occasion).collect();
        let json = serde_json::to_string(&views)?;
        Ok(CommandOutput { text: render_table(&occasions), json, ..CommandOutput::default() })
    }
}

fn render_table(occasions: &[Occasion]) -> String {
    if occasions.is_empty() {
        return "no global occasions; create one with `guerdon occasion create-global`".to_owned();
    }
    let row = |occasion: &Occasion| {
        vec![
            occasion.id.to_string(),
            occasion.text.name.as_str().to_owned(),
            occasion.text.title.as_str().to_owned(),
            yes_or_no(occasion.enabled).to_owned(),
            yes_or_no(occasion.visible).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = occasions.iter().map(row).collect();
    format_table(&["id", "name", "title", "enabled", "visible"], &rows)
}

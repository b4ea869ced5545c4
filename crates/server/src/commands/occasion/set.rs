//! `guerdon occasion set-global`.

use guerdon_domain::occasions::set_global;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::OccasionId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::render_occasion;
use crate::commands::arguments::identifiers::parse_id;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Update a global occasion; options that are not given stay unchanged.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon occasion set-global OCCASION_ID --enabled false
  guerdon occasion set-global OCCASION_ID --visible false")]
#[command(group(clap::ArgGroup::new("change").required(true).multiple(true)))]
pub(crate) struct SetGlobal {
    /// The occasion's id
    #[arg(value_name = "OCCASION_ID", value_parser = parse_id)]
    id: Uuid,
    /// Whether it can be used
    #[arg(long, value_name = "true|false", group = "change")]
    enabled: Option<bool>,
    /// Whether it is offered for selection
    #[arg(long, value_name = "true|false", group = "change")]
    visible: Option<bool>,
}

impl RunnableCommand for SetGlobal {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let (id, context) = (OccasionId::from_uuid(self.id), environment.context());
        let set =
            environment.store.transaction(|tx| set_global(tx, id, self.enabled, self.visible, &context))?;
        render_occasion(&set)
    }
}

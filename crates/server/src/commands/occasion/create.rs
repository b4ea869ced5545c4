//! `guerdon occasion create-global`.

use guerdon_domain::occasions::{OccasionText, create_global};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::SingleLine;
use serde::{Deserialize, Serialize};

use super::render_occasion;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// Create a global occasion, which every provider can use.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon occasion create-global --name Thanks --title Thanks \
    --default-message Thanks
  guerdon occasion create-global --name Welcome --title Welcome \
    --default-message Welcome")]
pub(crate) struct CreateGlobal {
    /// The name.
    #[arg(long)]
    name: String,
    /// The title of emails about its recognitions.
    #[arg(long)]
    title: String,
    /// The default message of recognitions.
    #[arg(long)]
    default_message: String,
}

impl RunnableCommand for CreateGlobal {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let invalid_field = |field: &str, cause: &dyn ToString| {
            CommandError::Refused(format!("{field} {}", cause.to_string()))
        };
        let text = OccasionText {
            name: SingleLine::parse(&self.name).map_err(|error| invalid_field("name", &error))?,
            title: SingleLine::parse(&self.title).map_err(|error| invalid_field("title", &error))?,
            default_message: OccasionText::default_message(&self.default_message)
                .map_err(|error| invalid_field("default_message", &error))?,
        };
        let occasion =
            environment.store.transaction(|tx| create_global(tx, &text, &environment.context()))?;
        render_occasion(&occasion)
    }
}

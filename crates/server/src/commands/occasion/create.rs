//! `guerdon occasion create-global`.

use guerdon_domain::occasions::{OccasionText, create_global};
use guerdon_domain::ports::{StoreError, StoreExt};
use guerdon_domain::values::Line;
use serde::{Deserialize, Serialize};

use super::Shown;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

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
    /// The title of mails about its recognitions.
    #[arg(long)]
    title: String,
    /// The default message of recognitions.
    #[arg(long)]
    default_message: String,
}

impl Runnable for CreateGlobal {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let named = |field: &str, cause: &dyn ToString| {
            CommandError::Refused(format!("{field} {}", cause.to_string()))
        };
        let text = OccasionText {
            name: Line::parse(&self.name).map_err(|error| named("name", &error))?,
            title: Line::parse(&self.title).map_err(|error| named("title", &error))?,
            default_message: OccasionText::default_message(&self.default_message)
                .map_err(|error| named("default_message", &error))?,
        };
        let occasion = environment.store.transaction(|tx| -> Result<_, StoreError> {
            create_global(tx, &text, &environment.context())
        })?;
        Shown::of(&occasion).output()
    }
}

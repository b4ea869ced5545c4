//! `guerdon occasion`.

use guerdon_domain::occasions::{Occasion, OccasionText, create_global};
use guerdon_domain::ports::{StoreError, StoreExt};
use guerdon_domain::values::Line;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::output::fields;
use super::{CommandError, Output, Runnable, View, Workplace};

/// Adds an occasion that every provider can use.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct CreateGlobal {
    /// Its name.
    #[arg(long)]
    name: String,
    /// The title of its mails.
    #[arg(long)]
    title: String,
    /// The message of recognitions that give none.
    #[arg(long)]
    default_message: String,
}

/// An occasion, as the API shows it (behaviour 14.1).
#[derive(Serialize)]
struct Created<'a> {
    id: Uuid,
    company_id: Option<Uuid>,
    name: &'a str,
    title: &'a str,
    default_message: &'a str,
    enabled: bool,
    visible: bool,
    global: bool,
    created_at: String,
    updated_at: String,
}

impl<'a> Created<'a> {
    fn of(it: &'a Occasion) -> Self {
        Self {
            id: it.id.as_uuid(),
            company_id: it.company_id.map(|id| id.as_uuid()),
            name: it.text.name.as_str(),
            title: it.text.title.as_str(),
            default_message: it.text.default_message.as_str(),
            enabled: it.enabled,
            visible: it.visible,
            global: it.is_global(),
            created_at: it.created_at.to_string(),
            updated_at: it.updated_at.to_string(),
        }
    }
}

impl View for Created<'_> {
    fn text(&self) -> String {
        fields(&[("id", &self.id.to_string()), ("name", self.name), ("title", self.title)])
    }
}

impl Runnable for CreateGlobal {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let named = |field: &str, cause: &dyn ToString| {
            CommandError::Refused(format!("{field} {}", cause.to_string()))
        };
        let text = OccasionText {
            name: Line::parse(&self.name).map_err(|it| named("name", &it))?,
            title: Line::parse(&self.title).map_err(|it| named("title", &it))?,
            default_message: OccasionText::default_message(&self.default_message)
                .map_err(|it| named("default_message", &it))?,
        };
        let occasion = workplace
            .store
            .transaction(|tx| -> Result<_, StoreError> { create_global(tx, &text, &workplace.context()) })?;
        Created::of(&occasion).output()
    }
}

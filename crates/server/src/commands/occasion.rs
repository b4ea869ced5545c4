//! `guerdon occasion`.

use guerdon_domain::occasions::{
    GlobalOccasionError, Occasion, OccasionText, create_global, delete_global, set_global,
};
use guerdon_domain::ports::{StoreError, StoreExt};
use guerdon_domain::values::{Line, OccasionId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::named::id;
use super::output::{fields, table};
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
struct Shown<'a> {
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

/// Shows the occasions that every provider can use, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct ListGlobal {}

/// Changes an occasion that every provider can use; what is not named stays.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct SetGlobal {
    /// The occasion's id
    #[arg(value_name = "OCCASION_ID", value_parser = id)]
    id: Uuid,
    /// Whether it can be used
    #[arg(long, value_name = "true|false")]
    enabled: Option<bool>,
    /// Whether it is shown for selection
    #[arg(long, value_name = "true|false")]
    visible: Option<bool>,
}

/// Removes an occasion that every provider can use; recognitions keep its id, events its name.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct DeleteGlobal {
    /// The occasion's id
    #[arg(value_name = "OCCASION_ID", value_parser = id)]
    id: Uuid,
}

#[derive(Serialize)]
struct Deleted {
    id: Uuid,
    deleted: bool,
}

impl View for Deleted {
    fn text(&self) -> String {
        format!("occasion {} is deleted", self.id)
    }
}

impl View for Vec<Shown<'_>> {
    fn text(&self) -> String {
        if self.is_empty() {
            return "there is no global occasion: `guerdon occasion create-global` adds one".to_owned();
        }
        let yes = |it: bool| if it { "yes" } else { "no" }.to_owned();
        let row = |it: &Shown<'_>| {
            let (id, name, title) = (it.id.to_string(), it.name.to_owned(), it.title.to_owned());
            vec![id, name, title, yes(it.enabled), yes(it.visible)]
        };
        let rows: Vec<Vec<String>> = self.iter().map(row).collect();
        table(&["id", "name", "title", "enabled", "visible"], &rows)
    }
}

impl<'a> Shown<'a> {
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

impl View for Shown<'_> {
    fn text(&self) -> String {
        let yes = |it: bool| if it { "yes" } else { "no" };
        fields(&[
            ("id", &self.id.to_string()),
            ("name", self.name),
            ("title", self.title),
            ("enabled", yes(self.enabled)),
            ("visible", yes(self.visible)),
        ])
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
        Shown::of(&occasion).output()
    }
}

impl Runnable for ListGlobal {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let all = workplace.store.snapshot(|reads| -> Result<_, StoreError> { reads.global_occasions() })?;
        all.iter().map(Shown::of).collect::<Vec<_>>().output()
    }
}

impl Runnable for SetGlobal {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        if self.enabled.is_none() && self.visible.is_none() {
            return Err(CommandError::refused("nothing to set: say what is to be changed"));
        }
        let (id, context) = (OccasionId::from_uuid(self.id), workplace.context());
        let set =
            workplace.store.transaction(|tx| set_global(tx, id, self.enabled, self.visible, &context))?;
        Shown::of(&set).output()
    }
}

impl Runnable for DeleteGlobal {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let (id, context) = (OccasionId::from_uuid(self.id), workplace.context());
        workplace.store.transaction(|tx| delete_global(tx, id, &context))?;
        Deleted { id: self.id, deleted: true }.output()
    }
}

refusals!(GlobalOccasionError);

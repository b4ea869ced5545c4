//! `guerdon occasion`.

mod create;
mod delete;
mod list;
mod set;

use guerdon_domain::occasions::{GlobalOccasionError, Occasion};
use serde::Serialize;
use uuid::Uuid;

use crate::commands::View;
use crate::commands::error::refusals;
use crate::commands::group::command_group;
use crate::commands::output::fields;

command_group! {
    #[expect(clippy::enum_variant_names, reason = "a company's own occasions are its provider's")]
    enum OccasionCommand {
        /// Create a global occasion, which every provider can use.
        CreateGlobal(create::CreateGlobal),
        /// List global occasions.
        ListGlobal(list::ListGlobal),
        /// Enable, disable, show or hide a global occasion.
        SetGlobal(set::SetGlobal),
        /// Delete a global occasion.
        DeleteGlobal(delete::DeleteGlobal),
    }
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
        let yes = |flag: bool| if flag { "yes" } else { "no" };
        fields(&[
            ("id", &self.id.to_string()),
            ("name", self.name),
            ("title", self.title),
            ("enabled", yes(self.enabled)),
            ("visible", yes(self.visible)),
        ])
    }
}

refusals!(GlobalOccasionError);

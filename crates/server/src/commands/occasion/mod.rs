//! `guerdon occasion`.

mod create;
mod delete;
mod list;
mod set;

use guerdon_domain::occasions::{GlobalOccasionError, Occasion};
use serde::Serialize;
use uuid::Uuid;

use crate::commands::CommandView;
use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::format_fields;

command_group! {
    #[expect(clippy::enum_variant_names, reason = "only the provider manages a company's own occasions")]
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
struct OccasionView<'a> {
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

impl<'a> OccasionView<'a> {
    fn from_occasion(occasion: &'a Occasion) -> Self {
        Self {
            id: occasion.id.as_uuid(),
            company_id: occasion.company_id.map(|id| id.as_uuid()),
            name: occasion.text.name.as_str(),
            title: occasion.text.title.as_str(),
            default_message: occasion.text.default_message.as_str(),
            enabled: occasion.enabled,
            visible: occasion.visible,
            global: occasion.is_global(),
            created_at: occasion.created_at.to_string(),
            updated_at: occasion.updated_at.to_string(),
        }
    }
}

impl CommandView for OccasionView<'_> {
    fn to_text(&self) -> String {
        let yes_or_no = |flag: bool| if flag { "yes" } else { "no" };
        format_fields(&[
            ("id", &self.id.to_string()),
            ("name", self.name),
            ("title", self.title),
            ("enabled", yes_or_no(self.enabled)),
            ("visible", yes_or_no(self.visible)),
        ])
    }
}

impl_from_errors!(GlobalOccasionError);

//! `guerdon occasion`.

mod create;
mod delete;
mod list;
mod set;

use guerdon_api_types::views::OccasionView;
use guerdon_domain::occasions::{GlobalOccasionError, Occasion};

use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::{WithText, format_fields};
use crate::commands::{CommandError, CommandOutput, CommandView as _};

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

/// Renders an occasion, with the fields that the API shows (behaviour 14.1).
fn render_occasion(occasion: &Occasion) -> Result<CommandOutput, CommandError> {
    let text = format_fields(&[
        ("id", &occasion.id.to_string()),
        ("name", occasion.text.name.as_str()),
        ("title", occasion.text.title.as_str()),
        ("enabled", yes_or_no(occasion.enabled)),
        ("visible", yes_or_no(occasion.visible)),
    ]);
    WithText { fields: OccasionView::from_occasion(occasion), text }.to_output()
}

fn yes_or_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}

impl_from_errors!(GlobalOccasionError);

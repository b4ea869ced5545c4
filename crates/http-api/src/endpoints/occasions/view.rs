//! An occasion, as every operation answers it (behaviour 14.1).

use guerdon_domain::occasions::Occasion;
use guerdon_domain::values::{CompanyId, Line, Message, OccasionId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::wire::Shown;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Occasion")]
pub(crate) struct OccasionView<'a> {
    id: Shown<OccasionId>,
    company_id: Option<Shown<CompanyId>>,
    #[schemars(with = "Shown<Line>")]
    name: &'a str,
    #[schemars(with = "Shown<Line>")]
    title: &'a str,
    #[schemars(with = "Shown<Message>")]
    default_message: &'a str,
    enabled: bool,
    visible: bool,
    global: bool,
    created_at: Shown<Timestamp>,
    updated_at: Shown<Timestamp>,
}

impl<'a> OccasionView<'a> {
    pub(crate) fn of(occasion: &'a Occasion) -> Self {
        Self {
            id: Shown(occasion.id),
            company_id: occasion.company_id.map(Shown),
            name: occasion.text.name.as_str(),
            title: occasion.text.title.as_str(),
            default_message: occasion.text.default_message.as_str(),
            enabled: occasion.enabled,
            visible: occasion.visible,
            global: occasion.is_global(),
            created_at: Shown(occasion.created_at),
            updated_at: Shown(occasion.updated_at),
        }
    }
}

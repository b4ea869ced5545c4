//! An occasion in responses (behaviour 14.1).

use guerdon_domain::occasions::Occasion;
use guerdon_domain::values::{CompanyId, Message, OccasionId, SingleLine, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::WireValue;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Occasion")]
pub struct OccasionView<'a> {
    /// The occasion's id. Example: `"019a9c3e-5d73-7f55-8c6e-4b3c2d1e0f55"`
    id: WireValue<OccasionId>,
    /// The company that the occasion belongs to; null for a global occasion. Example:
    /// `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    company_id: Option<WireValue<CompanyId>>,
    /// The display name. Example: `"Thank you"`
    #[schemars(with = "WireValue<SingleLine>")]
    name: &'a str,
    /// Used as the subject of emails. Example: `"You were thanked"`
    #[schemars(with = "WireValue<SingleLine>")]
    title: &'a str,
    /// The message of recognitions that are sent without one. Example: `"Thank you for your help."`
    #[schemars(with = "WireValue<Message>")]
    default_message: &'a str,
    /// Whether it can be used for recognitions. Example: `true`
    enabled: bool,
    /// Whether forms should show it. Example: `true`
    visible: bool,
    /// Whether the operator created it for all companies. Example: `false`
    global: bool,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
    /// When it was last changed, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    updated_at: WireValue<Timestamp>,
}

impl<'a> OccasionView<'a> {
    pub fn from_occasion(occasion: &'a Occasion) -> Self {
        Self {
            id: WireValue(occasion.id),
            company_id: occasion.company_id.map(WireValue),
            name: occasion.text.name.as_str(),
            title: occasion.text.title.as_str(),
            default_message: occasion.text.default_message.as_str(),
            enabled: occasion.enabled,
            visible: occasion.visible,
            global: occasion.is_global(),
            created_at: WireValue(occasion.created_at),
            updated_at: WireValue(occasion.updated_at),
        }
    }
}

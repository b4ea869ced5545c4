//! A corporation in responses (behaviour 12.1).

use guerdon_domain::corporations::Corporation;
use guerdon_domain::values::{CorporationId, SingleLine, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::WireValue;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Corporation")]
pub struct CorporationView<'a> {
    /// The corporation's id. Example: `"019a9c3e-5d6f-7b02-b6a3-2c4d5e6f7a33"`
    id: WireValue<CorporationId>,
    /// The display name. Example: `"Acme Group"`
    #[schemars(with = "WireValue<SingleLine>")]
    name: &'a str,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: WireValue<Timestamp>,
    /// When it was last changed, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    updated_at: WireValue<Timestamp>,
}

impl<'a> CorporationView<'a> {
    pub fn from_corporation(corporation: &'a Corporation) -> Self {
        Self {
            id: WireValue(corporation.id),
            name: corporation.name.as_str(),
            created_at: WireValue(corporation.created_at),
            updated_at: WireValue(corporation.updated_at),
        }
    }
}

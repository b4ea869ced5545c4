//! A corporation, as every operation answers it (behaviour 12.1).

use guerdon_domain::corporations::Corporation;
use guerdon_domain::values::{CorporationId, Line, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Shown;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Corporation")]
pub struct CorporationView<'a> {
    /// The corporation's id. Example: `"019a9c3e-5d6f-7b02-b6a3-2c4d5e6f7a33"`
    id: Shown<CorporationId>,
    /// The display name. Example: `"Acme Group"`
    #[schemars(with = "Shown<Line>")]
    name: &'a str,
    /// When it was created, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    created_at: Shown<Timestamp>,
    /// When it was last changed, in UTC with milliseconds. Example: `"2026-11-20T20:01:02.345Z"`
    updated_at: Shown<Timestamp>,
}

impl<'a> CorporationView<'a> {
    pub fn of(corporation: &'a Corporation) -> Self {
        Self {
            id: Shown(corporation.id),
            name: corporation.name.as_str(),
            created_at: Shown(corporation.created_at),
            updated_at: Shown(corporation.updated_at),
        }
    }
}

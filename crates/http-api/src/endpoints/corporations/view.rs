//! A corporation, as every operation answers it (behaviour 12.1).

use guerdon_domain::corporations::Corporation;
use guerdon_domain::values::{CorporationId, Line, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::wire::Shown;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Corporation")]
pub(crate) struct CorporationView<'a> {
    id: Shown<CorporationId>,
    #[schemars(with = "Shown<Line>")]
    name: &'a str,
    created_at: Shown<Timestamp>,
    updated_at: Shown<Timestamp>,
}

impl<'a> CorporationView<'a> {
    pub(super) fn of(corporation: &'a Corporation) -> Self {
        Self {
            id: Shown(corporation.id),
            name: corporation.name.as_str(),
            created_at: Shown(corporation.created_at),
            updated_at: Shown(corporation.updated_at),
        }
    }
}

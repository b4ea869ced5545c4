//! Corporations.

use diesel::prelude::*;
use guerdon_domain::corporations::Corporation;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CorporationId, Line, ProviderId};

use super::Reading;
use super::schema::corporations;
use super::types::{At, Id};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = corporations, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct CorporationRow {
    pub(crate) id: Id<CorporationId>,
    pub(crate) provider_id: Id<ProviderId>,
    pub(crate) name: String,
    pub(crate) created_at: At,
    pub(crate) updated_at: At,
}

impl CorporationRow {
    pub(crate) fn of(it: &Corporation) -> Self {
        Self {
            id: Id(it.id),
            provider_id: Id(it.provider_id),
            name: it.name.as_str().to_owned(),
            created_at: At(it.created_at),
            updated_at: At(it.updated_at),
        }
    }

    pub(crate) fn read(self) -> Result<Corporation, StoreError> {
        let reading = Reading { table: "corporations", id: &self.id.0 };
        Ok(Corporation {
            id: self.id.0,
            provider_id: self.provider_id.0,
            name: reading.parse("name", &self.name, Line::parse)?,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

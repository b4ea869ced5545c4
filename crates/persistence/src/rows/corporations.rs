//! Corporations.

use diesel::prelude::*;
use guerdon_domain::corporations::Corporation;
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CorporationId, ProviderId, SingleLine};

use super::schema::corporations;
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = corporations, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct CorporationRow {
    pub(crate) id: Id<CorporationId>,
    pub(crate) provider_id: Id<ProviderId>,
    pub(crate) name: String,
    pub(crate) created_at: DbTimestamp,
    pub(crate) updated_at: DbTimestamp,
}

impl CorporationRow {
    pub(crate) fn from_corporation(corporation: &Corporation) -> Self {
        Self {
            id: Id(corporation.id),
            provider_id: Id(corporation.provider_id),
            name: corporation.name.as_str().to_owned(),
            created_at: DbTimestamp(corporation.created_at),
            updated_at: DbTimestamp(corporation.updated_at),
        }
    }

    pub(crate) fn into_corporation(self) -> Result<Corporation, StoreError> {
        let reader = RowReader { table: "corporations", id: &self.id.0 };
        Ok(Corporation {
            id: self.id.0,
            provider_id: self.provider_id.0,
            name: reader.parse_column("name", &self.name, SingleLine::parse)?,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

//! Occasions.

use diesel::prelude::*;
use guerdon_domain::occasions::{Occasion, OccasionText};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, Message, OccasionId, SingleLine};

use super::schema::occasions;
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, QueryableByName, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = occasions, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct OccasionRow {
    id: Id<OccasionId>,
    company_id: Option<Id<CompanyId>>,
    name: String,
    title: String,
    default_message: String,
    enabled: bool,
    visible: bool,
    created_at: DbTimestamp,
    updated_at: DbTimestamp,
    deleted_at: Option<DbTimestamp>,
}

impl OccasionRow {
    pub(crate) fn from_occasion(occasion: &Occasion) -> Self {
        Self {
            id: Id(occasion.id),
            company_id: occasion.company_id.map(Id),
            name: occasion.text.name.as_str().to_owned(),
            title: occasion.text.title.as_str().to_owned(),
            default_message: occasion.text.default_message.as_str().to_owned(),
            enabled: occasion.enabled,
            visible: occasion.visible,
            created_at: DbTimestamp(occasion.created_at),
            updated_at: DbTimestamp(occasion.updated_at),
            deleted_at: None,
        }
    }

    pub(crate) fn into_occasion(self) -> Result<Occasion, StoreError> {
        let reader = RowReader { table: "occasions", id: &self.id.0 };
        let text = OccasionText {
            name: reader.parse_column("name", &self.name, SingleLine::parse)?,
            title: reader.parse_column("title", &self.title, SingleLine::parse)?,
            default_message: reader.parse_column("default_message", &self.default_message, Message::parse)?,
        };
        Ok(Occasion {
            id: self.id.0,
            company_id: self.company_id.map(|company_id| company_id.0),
            text,
            enabled: self.enabled,
            visible: self.visible,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

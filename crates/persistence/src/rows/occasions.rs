//! Occasions.

use diesel::prelude::*;
use guerdon_domain::occasions::{Occasion, OccasionText};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::{CompanyId, Line, Message, OccasionId};

use super::Reading;
use super::schema::occasions;
use super::types::{At, Id};

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
    created_at: At,
    updated_at: At,
    deleted_at: Option<At>,
}

impl OccasionRow {
    pub(crate) fn of(it: &Occasion) -> Self {
        Self {
            id: Id(it.id),
            company_id: it.company_id.map(Id),
            name: it.text.name.as_str().to_owned(),
            title: it.text.title.as_str().to_owned(),
            default_message: it.text.default_message.as_str().to_owned(),
            enabled: it.enabled,
            visible: it.visible,
            created_at: At(it.created_at),
            updated_at: At(it.updated_at),
            deleted_at: None,
        }
    }

    pub(crate) fn read(self) -> Result<Occasion, StoreError> {
        let reading = Reading { table: "occasions", id: &self.id.0 };
        let text = OccasionText {
            name: reading.parse("name", &self.name, Line::parse)?,
            title: reading.parse("title", &self.title, Line::parse)?,
            default_message: reading.parse("default_message", &self.default_message, Message::parse)?,
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

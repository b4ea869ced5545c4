//! Moves of companies between cells.

use diesel::prelude::*;
use guerdon_domain::companies::{CompanyMove, MoveDirection};
use guerdon_domain::ports::StoreError;
use guerdon_domain::values::CompanyId;

use super::schema::company_moves;
use super::{DbTimestamp, Id, RowReader};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = company_moves, treat_none_as_default_value = false)]
pub(crate) struct CompanyMoveRow {
    token: Id,
    company_id: Id<CompanyId>,
    direction: i16,
    release_code: Option<String>,
    created_at: DbTimestamp,
    archived_at: Option<DbTimestamp>,
    completed_at: Option<DbTimestamp>,
}

impl CompanyMoveRow {
    pub(crate) fn from_move(company_move: &CompanyMove) -> Self {
        Self {
            token: Id(company_move.token),
            company_id: Id(company_move.company_id),
            direction: company_move.direction.code(),
            release_code: company_move.release_code.clone(),
            created_at: DbTimestamp(company_move.created_at),
            archived_at: company_move.archived_at.map(DbTimestamp),
            completed_at: company_move.completed_at.map(DbTimestamp),
        }
    }

    pub(crate) fn into_move(self) -> Result<CompanyMove, StoreError> {
        let reader = RowReader { table: "company_moves", id: &self.token.0 };
        Ok(CompanyMove {
            token: self.token.0,
            company_id: self.company_id.0,
            direction: reader.require_valid("direction", MoveDirection::from_code(self.direction))?,
            release_code: self.release_code,
            created_at: self.created_at.0,
            archived_at: self.archived_at.map(|archived_at| archived_at.0),
            completed_at: self.completed_at.map(|completed_at| completed_at.0),
        })
    }
}

//! Moves of a company between cells.

use uuid::Uuid;

use crate::values::{CompanyId, Timestamp, stored_enum};

stored_enum! {
    /// The role of this cell in a move.
    enum MoveDirection {
        /// The company was handed over by this cell.
        Outgoing => 1, "outgoing";
        /// The company was imported into this cell.
        Incoming => 2, "incoming";
        /// This cell will never import the company with this token.
        Refused => 3, "refused";
    }
}

/// One move of a company, as one of the two cells records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyMove {
    /// The hand-over token. Each move has a different one, and a cell imports it at most once.
    pub token: Uuid,
    pub company_id: CompanyId,
    pub direction: MoveDirection,
    /// The code that reopens the company in the cell that handed it over. Only that cell stores it.
    pub release_code: Option<String>,
    pub created_at: Timestamp,
    /// When an archive of this hand-over was last completed; `None` if no archive exists.
    pub archived_at: Option<Timestamp>,
    /// When the company was imported, or reopened; `None` for a move whose outcome this cell does not know.
    pub completed_at: Option<Timestamp>,
}

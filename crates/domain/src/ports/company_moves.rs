//! Moves of companies between cells.

use uuid::Uuid;

use super::{StoreError, Timestamp};
use crate::model::CompanyMove;
use crate::values::{CompanyId, ProviderId};

pub trait ReadCompanyMoves {
    fn find_company_move(&mut self, token: Uuid) -> Result<Option<CompanyMove>, StoreError>;

    /// The open outgoing move of a company. If the company has none, because it was reopened, the latest one.
    fn find_latest_hand_over(&mut self, company: CompanyId) -> Result<Option<CompanyMove>, StoreError>;

    /// Whether a distribution of the company is paid in steps and not finished.
    fn has_unfinished_distribution(&mut self, company: CompanyId) -> Result<bool, StoreError>;

    /// Whether seals cover all journal entries of the company.
    fn is_company_sealed(&mut self, company: CompanyId) -> Result<bool, StoreError>;
}

/// Writes moves of companies.
pub trait CompanyMoves: ReadCompanyMoves {
    fn insert_company_move(&mut self, company_move: &CompanyMove) -> Result<(), StoreError>;

    /// Records when a move was completed.
    fn complete_company_move(&mut self, token: Uuid, at: Timestamp) -> Result<(), StoreError>;

    /// Replaces the token and the release code of an open outgoing move that has no archive. Returns whether there is
    /// such a move.
    fn replace_move_token(
        &mut self,
        token: Uuid,
        new_token: Uuid,
        release_code: &str,
    ) -> Result<bool, StoreError>;

    /// Records when an archive of an open move was complete. Returns whether there is an open move with this token.
    fn record_move_archived(&mut self, token: Uuid, at: Timestamp) -> Result<bool, StoreError>;

    /// Takes the pending events of a company and its provider away from the dispatchers. An attempt in flight loses its
    /// lease, so its result is ignored.
    fn hand_over_deliveries(&mut self, company: CompanyId, provider: ProviderId) -> Result<(), StoreError>;

    /// Makes the events of [`hand_over_deliveries`](Self::hand_over_deliveries) pending again, due at `now`.
    fn take_back_deliveries(&mut self, company: CompanyId, now: Timestamp) -> Result<(), StoreError>;
}

//! Corporations.

use crate::values::{CorporationId, Line, ProviderId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corporation {
    pub id: CorporationId,
    pub provider_id: ProviderId,
    pub name: Line,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

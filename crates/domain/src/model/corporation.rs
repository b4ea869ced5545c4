//! Corporations.

use crate::values::{CorporationId, ProviderId, SingleLine, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corporation {
    pub id: CorporationId,
    pub provider_id: ProviderId,
    pub name: SingleLine,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

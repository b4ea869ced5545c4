//! The corporation.

use crate::values::{CorporationId, Line, ProviderId, Timestamp};

/// A corporation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corporation {
    /// Its id.
    pub id: CorporationId,
    /// Whose it is.
    pub provider_id: ProviderId,
    /// Its name.
    pub name: Line,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

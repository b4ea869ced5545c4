//! Corporations.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A corporation (behaviour 12.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Corporation {
    pub id: Uuid,
    pub name: String,
    pub created_at: String,
    pub updated_at: String,
}

/// A corporation to create.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewCorporation {
    pub name: String,
}

/// Changes to a corporation.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CorporationUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

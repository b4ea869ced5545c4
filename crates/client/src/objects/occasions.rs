//! Occasions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An occasion (behaviour 14.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Occasion {
    pub id: Uuid,
    /// `None` for a global occasion.
    pub company_id: Option<Uuid>,
    pub name: String,
    pub title: String,
    pub default_message: String,
    pub enabled: bool,
    pub visible: bool,
    pub global: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// An occasion to create.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewOccasion {
    pub company_id: Uuid,
    pub name: String,
    pub title: String,
    pub default_message: String,
    /// `true` by default.
    pub enabled: Option<bool>,
    /// `true` by default.
    pub visible: Option<bool>,
}

/// Changes to an occasion.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OccasionUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible: Option<bool>,
}

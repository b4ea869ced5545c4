//! Companies, their reserve and their single sign-on.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Change;

/// A company (behaviour 11.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Company {
    pub id: Uuid,
    pub domain: String,
    pub company_name: String,
    pub owner_id: Uuid,
    pub owner_email: String,
    pub owner_name: String,
    /// The company's administrators get a mail when the reserve falls below this number of points.
    pub reserve_alert: Option<i64>,
    /// One more address that gets this mail.
    pub reserve_bcc: Option<String>,
    /// The number of active users.
    pub user_count: i64,
    pub points_per_dollar: i64,
    pub created_at: String,
    pub updated_at: String,
}

/// A company after it was created or updated.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ChangedCompany {
    pub id: Uuid,
    pub domain: String,
    pub company_name: String,
    pub owner_id: Uuid,
    pub owner_email: String,
    pub owner_name: String,
    pub reserve_alert: Option<i64>,
    pub reserve_bcc: Option<String>,
    pub created_at: String,
    pub updated_at: String,
}

/// A company in a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ListedCompany {
    pub id: Uuid,
    pub domain: String,
    pub company_name: String,
    pub owner_id: Uuid,
    pub owner_email: String,
    pub owner_name: String,
    pub created_at: String,
    pub updated_at: String,
}

/// A company to create.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewCompany {
    pub domain: String,
    pub company_name: String,
    pub owner_email: String,
    /// First and last name.
    pub owner_name: String,
    pub logo_url: String,
    pub corporation_id: Option<Uuid>,
    /// 50 unless given.
    pub points_per_dollar: Option<i64>,
    pub reserve_alert: Option<i64>,
    pub reserve_bcc: Option<String>,
}

/// Changes to a company.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CompanyUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company_name: Option<String>,
    /// The address of another active user makes that user the owner; an unknown one creates the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points_per_dollar: Option<i64>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub reserve_alert: Change<i64>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub reserve_bcc: Change<String>,
}

/// What everyone would see at another rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RatePreview {
    pub points_per_dollar: PreviewedValue,
    pub reserve: PreviewedValue,
    /// The sum over the user wallets of the active users; the next two accordingly.
    pub user_wallet: PreviewedValue,
    pub peer_wallet: PreviewedValue,
    pub manager_wallet: PreviewedValue,
}

/// A number at the present rate and at the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PreviewedValue {
    pub now: i64,
    pub then: i64,
}

/// What a company can send (behaviour 25.2).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Reserve {
    /// The company.
    pub id: Uuid,
    pub points: i64,
    pub reserve_alert: Option<i64>,
}

/// Single sign-on (behaviour 18.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SamlSettings {
    pub idp_id: Option<String>,
    pub idp_url: Option<String>,
    /// The audience of the assertions.
    pub sp_id: String,
    pub active: bool,
}

/// Changes of single sign-on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SamlUpdate {
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub idp_id: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub idp_url: Change<String>,
    /// In PEM. It is never shown.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub idp_certificate: Change<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

//! Companies, their reserves and their single sign-on settings.

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
    /// If the reserve falls below this number of points, the company's administrators are notified by email.
    pub reserve_alert: Option<i64>,
    /// An additional address that receives the email about a low reserve.
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
    /// 50 by default.
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
    /// The email address of the new owner. If no active user of the company has this address, the user is created.
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

/// The totals that balances would have at another rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RatePreview {
    pub points_per_dollar: PreviewedValue,
    pub reserve: PreviewedValue,
    /// The total balance of the active users' user wallets. The next two fields are the total balances of their peer
    /// and manager wallets.
    pub user_wallet: PreviewedValue,
    pub peer_wallet: PreviewedValue,
    pub manager_wallet: PreviewedValue,
}

/// A number at the current rate and at the other rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct PreviewedValue {
    pub now: i64,
    pub then: i64,
}

/// The reserve of a company (behaviour 25.2).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Reserve {
    /// The company.
    pub id: Uuid,
    pub points: i64,
    pub reserve_alert: Option<i64>,
}

/// The single sign-on settings of a company (behaviour 18.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SamlSettings {
    pub idp_id: Option<String>,
    pub idp_url: Option<String>,
    /// The audience of the assertions.
    pub sp_id: String,
    pub active: bool,
}

/// Changes to the single sign-on settings.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SamlUpdate {
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub idp_id: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub idp_url: Change<String>,
    /// The certificate in PEM. The API never returns it.
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub idp_certificate: Change<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
}

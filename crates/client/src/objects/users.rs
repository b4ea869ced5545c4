//! Users.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Change;

/// A user (behaviour 13.1).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct User {
    pub id: Uuid,
    pub company_id: Uuid,
    pub email: String,
    pub first_name: String,
    /// Empty for an owner whose name is a single word.
    pub last_name: String,
    pub department: Option<String>,
    pub title: Option<String>,
    /// The supervisor need not be a user.
    pub supervisor_email: Option<String>,
    pub employee_id: Option<String>,
    /// The birthday in the format mm/dd.
    pub birthday: Option<String>,
    /// The ISO 3166-1 country code, with two or three letters.
    pub country_code: Option<String>,
    /// The date in the format mm/dd/yyyy.
    pub work_start_date: Option<String>,
    pub office_city: Option<String>,
    pub office_state: Option<String>,
    pub office_country: Option<String>,
    /// Whether the user may send from a manager wallet.
    pub manager: bool,
    pub company_admin: bool,
    pub corporation_admin: bool,
    /// Names of groups, separated by commas.
    pub groups: Option<String>,
    pub custom_field_1: Option<String>,
    pub custom_field_2: Option<String>,
    pub custom_field_3: Option<String>,
    pub custom_field_4: Option<String>,
    pub custom_field_5: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    /// `None` for an active user.
    pub deleted_at: Option<String>,
}

/// A user to create. The fields are those of [`User`].
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewUser {
    pub company_id: Uuid,
    pub email: String,
    pub first_name: String,
    pub last_name: String,
    pub department: Option<String>,
    pub title: Option<String>,
    pub supervisor_email: Option<String>,
    pub employee_id: Option<String>,
    pub birthday: Option<String>,
    pub country_code: Option<String>,
    pub work_start_date: Option<String>,
    pub office_city: Option<String>,
    pub office_state: Option<String>,
    pub office_country: Option<String>,
    pub manager: bool,
    pub company_admin: bool,
    pub corporation_admin: bool,
    pub groups: Option<String>,
    pub custom_field_1: Option<String>,
    pub custom_field_2: Option<String>,
    pub custom_field_3: Option<String>,
    pub custom_field_4: Option<String>,
    pub custom_field_5: Option<String>,
}

/// Changes to a user. The fields are those of [`User`].
#[derive(Debug, Clone, Default, Serialize)]
pub struct UserUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub department: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub title: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub supervisor_email: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub employee_id: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub birthday: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub country_code: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub work_start_date: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub office_city: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub office_state: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub office_country: Change<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company_admin: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corporation_admin: Option<bool>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub groups: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub custom_field_1: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub custom_field_2: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub custom_field_3: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub custom_field_4: Change<String>,
    #[serde(skip_serializing_if = "Change::is_keep")]
    pub custom_field_5: Change<String>,
}

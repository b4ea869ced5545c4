//! What the API takes and answers (behaviour 11 to 18, 25). Fields that are added to answers later are passed over.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

/// A company (behaviour 11.1); what an answer does not show is `None`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Company {
    pub id: Uuid,
    pub domain: String,
    pub company_name: String,
    pub owner_id: Uuid,
    pub owner_email: String,
    pub owner_name: String,
    pub reserve_alert: Option<i64>,
    pub reserve_bcc: Option<String>,
    pub user_count: Option<i64>,
    pub points_per_dollar: Option<i64>,
    pub created_at: String,
    pub updated_at: String,
}

/// A company to be made.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewCompany {
    pub domain: String,
    pub company_name: String,
    pub owner_email: String,
    /// First and last name.
    pub owner_name: String,
    pub logo_url: String,
    pub corporation_id: Option<Uuid>,
    pub points_per_dollar: Option<i64>,
    pub reserve_alert: Option<i64>,
    pub reserve_bcc: Option<String>,
}

/// A corporation (behaviour 12.1).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Corporation {
    pub id: Uuid,
    pub name: String,
    pub created_at: String,
    pub updated_at: String,
}

/// A user (behaviour 13.1).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct User {
    pub id: Uuid,
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
    pub created_at: String,
    pub updated_at: String,
    pub deleted_at: Option<String>,
}

/// A user to be made; what need not be known is given with [`crate::Client::update_user`].
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewUser {
    pub company_id: Uuid,
    pub email: String,
    pub first_name: String,
    pub last_name: String,
    pub manager: bool,
    pub company_admin: bool,
    pub employee_id: Option<String>,
}

/// An occasion (behaviour 14.1).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Occasion {
    pub id: Uuid,
    /// None for a global one.
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

/// An occasion to be made.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NewOccasion {
    pub company_id: Uuid,
    pub name: String,
    pub title: String,
    pub default_message: String,
}

/// Who sends (behaviour 15.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    User(Uuid),
    Company(Uuid),
}

/// A recognition to be sent.
#[derive(Debug, Clone, Serialize)]
pub struct NewRecognition {
    occasion_id: Uuid,
    sender_type: &'static str,
    sender_id: Uuid,
    receiver_ids: String,
    points_per_receiver: i64,
    message: Option<String>,
    share: bool,
}

impl NewRecognition {
    /// The same with a message of its own.
    #[must_use]
    pub fn saying(self, message: &str) -> Self {
        Self { message: Some(message.to_owned()), ..self }
    }

    /// The same, not to be shown to others.
    #[must_use]
    pub fn in_private(self) -> Self {
        Self { share: false, ..self }
    }

    /// A public one with the occasion's default message.
    pub fn new(occasion_id: Uuid, sender: Sender, receivers: &[Uuid], points_per_receiver: i64) -> Self {
        let (sender_type, sender_id) = match sender {
            Sender::User(id) => ("user", id),
            Sender::Company(id) => ("company", id),
        };
        let receivers: Vec<String> = receivers.iter().map(Uuid::to_string).collect();
        Self {
            occasion_id,
            sender_type,
            sender_id,
            receiver_ids: receivers.join(","),
            points_per_receiver,
            message: None,
            share: true,
        }
    }
}

/// A recognition that one user received (behaviour 15.1).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Recognition {
    pub id: Uuid,
    pub receiver_id: Uuid,
    /// `user` or `company`.
    pub sender_type: String,
    pub sender_id: Uuid,
    pub message: String,
    pub points: i64,
    pub share: bool,
    pub occasion_id: Uuid,
    pub company_id: Uuid,
    pub created_at: String,
}

/// What a recognition would do (behaviour 25.3).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Rehearsal {
    /// `reserve`, or the wallet that would pay.
    pub wallet: String,
    /// What it would cost in all.
    pub points: i64,
    /// The same in dollars, with two decimals.
    pub dollars: String,
    pub receivers: i64,
    /// What the payer would show then.
    pub balance_after: i64,
}

/// A wallet (behaviour 17.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WalletType {
    UserWallet,
    PeerWallet,
    ManagerWallet,
}

impl WalletType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::UserWallet => "user_wallet",
            Self::PeerWallet => "peer_wallet",
            Self::ManagerWallet => "manager_wallet",
        }
    }
}

/// What a wallet shows.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Balance {
    pub r#type: WalletType,
    pub points: i64,
    pub cumulative_points_spent: i64,
}

/// The wallets of a user.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Balances {
    /// The user.
    pub id: Uuid,
    pub wallets: Vec<Balance>,
}

/// A movement (behaviour 17.5).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Transaction {
    /// `debit` or `credit`.
    pub r#type: String,
    pub points: i64,
    pub reason: String,
    pub created_at: String,
}

/// What a company can send (behaviour 25.2).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Reserve {
    /// The company.
    pub id: Uuid,
    pub points: i64,
    pub reserve_alert: Option<i64>,
}

/// Single sign-on (behaviour 18.1).
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SamlSettings {
    pub idp_id: Option<String>,
    pub idp_url: Option<String>,
    pub sp_id: String,
    pub active: bool,
}

/// An event, and what became of it (behaviour 25.5).
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    pub id: Uuid,
    pub r#type: String,
    pub state: String,
    pub attempts: u16,
    pub created_at: String,
    pub next_attempt_at: Option<String>,
    /// As it is sent, byte for byte.
    pub body: Box<RawValue>,
    /// Only where one event is fetched.
    #[serde(default)]
    pub attempts_log: Vec<Attempt>,
}

/// An attempt to deliver it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Attempt {
    pub number: u16,
    pub started_at: String,
    pub status: Option<u16>,
    pub cause: Option<String>,
    pub duration_ms: u64,
}

/// Some events, and where to go on.
#[derive(Debug, Clone, Deserialize)]
pub struct Events {
    pub events: Vec<Event>,
    /// To be given back as `after`.
    pub next: String,
}

//! The objects in responses. Their fields are declared in the order of the JSON.

mod company;
mod corporation;
pub(crate) mod details;
mod event;
mod occasion;
mod recognition;
mod saml;
mod user;
mod wallet;

pub use company::{ChangedCompany, CompanyView, ListedCompany, WholeCompany};
pub use corporation::CorporationView;
pub use event::{AttemptView, EventView, WEBHOOK_EVENT};
pub use occasion::OccasionView;
pub use recognition::RecognitionView;
pub use saml::{SamlView, sp_id};
pub use user::UserView;
pub use wallet::WalletView;

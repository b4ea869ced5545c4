//! Objects as the API shows them, for other ways to look at them: JSON, with the fields in their order.

use guerdon_domain::companies::{Company, CompanyWithOwner};
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::users::User;

use guerdon_api_types::views::{CompanyView, SamlView, UserView};


pub use guerdon_api_types::views::sp_id;

/// A company, as fetching it answers (behaviour 11.1).
///
/// # Errors
///
/// Never, as long as what is shown has a form in JSON.
pub fn company(found: &CompanyWithOwner, user_count: i64) -> serde_json::Result<String> {
    serde_json::to_string(&CompanyView::whole(found, user_count))
}

/// A user, as fetching it answers (behaviour 13.1).
///
/// # Errors
///
/// Never, as long as what is shown has a form in JSON.
pub fn user(found: &User) -> serde_json::Result<String> {
    serde_json::to_string(&UserView::of(found))
}

/// The settings of single sign-on, as fetching them answers (behaviour 18.1).
///
/// # Errors
///
/// Never, as long as what is shown has a form in JSON.
pub fn saml(service_url: &str, company: &Company, settings: &SamlSettings) -> serde_json::Result<String> {
    serde_json::to_string(&SamlView::of(service_url, company, settings))
}

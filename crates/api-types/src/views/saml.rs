//! The single sign-on settings in responses (behaviour 18.1).

use guerdon_domain::companies::Company;
use guerdon_domain::saml::SamlSettings;
use guerdon_domain::values::{EntityId, WebUrl};
use schemars::JsonSchema;
use serde::Serialize;

use crate::WireValue;

/// The single sign-on settings of a company. They do not include the certificate, which is never returned.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SamlSettings")]
pub struct SamlView<'a> {
    /// The entity id of the identity provider. Example: `"https://idp.acme.example/metadata"`
    #[schemars(with = "Option<WireValue<EntityId>>")]
    idp_id: Option<&'a str>,
    /// The identity provider's single sign-on URL; the service never fetches it. Example:
    /// `"https://idp.acme.example/sso"`
    // The schema has no format `uri`: a URL that browsers accept is returned as it was sent, even if it breaks RFC
    // 3986.
    #[schemars(length(max = WebUrl::CHARS_MAX))]
    idp_url: Option<&'a str>,
    /// The audience of the SAML assertions. Example: `"https://localhost:8443/saml/acme.example"`
    sp_id: String,
    /// Whether single sign-on is active. Example: `false`
    active: bool,
}

impl<'a> SamlView<'a> {
    pub fn from_settings(service_url: &str, company: &Company, settings: &'a SamlSettings) -> Self {
        Self {
            idp_id: settings.idp_id.as_ref().map(EntityId::as_str),
            idp_url: settings.idp_url.as_ref().map(WebUrl::as_str),
            sp_id: sp_id(service_url, company),
            active: settings.active,
        }
    }
}

/// The entity id under which an identity provider knows a company of this service (behaviour 18.1).
pub fn sp_id(service_url: &str, company: &Company) -> String {
    format!("{service_url}/saml/{}", company.domain.as_str())
}

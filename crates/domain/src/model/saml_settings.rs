//! SAML settings.

use crate::values::{EntityId, PemCertificate, WebUrl};

/// A company's SAML settings; all unset and inactive if they were never set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SamlSettings {
    /// The identity provider's entity identifier.
    pub idp_id: Option<EntityId>,
    /// The sign-on URL of the identity provider; never fetched.
    pub idp_url: Option<WebUrl>,
    /// The identity provider's certificate; never returned.
    pub idp_certificate: Option<PemCertificate>,
    /// Whether single sign-on is active.
    pub active: bool,
}

impl SamlSettings {
    /// Whether all settings that single sign-on needs are set.
    pub fn is_complete(&self) -> bool {
        self.idp_id.is_some() && self.idp_url.is_some() && self.idp_certificate.is_some()
    }
}

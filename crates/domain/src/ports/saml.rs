//! SAML settings.

use super::{StoreError, Timestamp};
use crate::model::SamlSettings;
use crate::values::CompanyId;

/// Reads SAML settings.
pub trait ReadSaml {
    /// A company's settings; all fields are unset if they were never set.
    fn saml_settings(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError>;

    /// The companies with active single sign-on and an id greater than the given one, sorted by id; at most
    /// `limit`.
    fn list_companies_with_single_sign_on(
        &mut self,
        after: Option<CompanyId>,
        limit: i64,
    ) -> Result<Vec<CompanyId>, StoreError>;
}

/// Writes SAML settings.
pub trait Saml: ReadSaml {
    /// Stores the settings of a company that this transaction has locked.
    fn store_saml_settings(
        &mut self,
        company: CompanyId,
        settings: &SamlSettings,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Records that a company's administrators were notified of the expiry of its certificate; `false` if they already
    /// were.
    fn record_expiry_notice(&mut self, company: CompanyId, expires_at: Timestamp)
    -> Result<bool, StoreError>;
}

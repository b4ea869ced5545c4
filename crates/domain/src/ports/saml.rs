//! SAML settings.

use super::{StoreError, Timestamp};
use crate::model::SamlSettings;
use crate::values::CompanyId;

/// Reading SAML settings.
pub trait ReadSaml {
    /// A company's settings; all unset where they were never set.
    fn saml(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError>;
}

/// Writing SAML settings.
pub trait Saml: ReadSaml {
    /// Keeps the settings of a company that this transaction holds.
    fn keep_saml(
        &mut self,
        company: CompanyId,
        settings: &SamlSettings,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}

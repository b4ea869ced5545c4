//! SAML settings.

use super::{StoreError, Timestamp};
use crate::model::SamlSettings;
use crate::values::CompanyId;

/// Reading SAML settings.
pub trait ReadSaml {
    /// A company's settings; all unset where they were never set.
    fn saml(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError>;

    /// The companies whose single sign-on is on, in the order of their ids, those behind one; at most `limit`.
    fn with_active_saml(
        &mut self,
        behind: Option<CompanyId>,
        limit: i64,
    ) -> Result<Vec<(CompanyId, SamlSettings)>, StoreError>;
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

    /// Notes that a company's administrators were told of the end of its certificate; `false` where they were before.
    fn note_end_told(&mut self, company: CompanyId, end: Timestamp) -> Result<bool, StoreError>;
}

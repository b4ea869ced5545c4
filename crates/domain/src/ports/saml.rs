//! SAML settings.

use super::{StoreError, Timestamp};
use crate::model::SamlSettings;
use crate::values::CompanyId;

/// Reads SAML settings.
pub trait ReadSaml {
    /// A company's settings; all fields are unset if they were never set.
    fn saml(&mut self, company: CompanyId) -> Result<SamlSettings, StoreError>;

    /// The companies with active single sign-on and an id greater than the given one, in the order of their
    /// ids; at most `limit`.
    fn with_active_saml(
        &mut self,
        behind: Option<CompanyId>,
        limit: i64,
    ) -> Result<Vec<(CompanyId, SamlSettings)>, StoreError>;
}

/// Writes SAML settings.
pub trait Saml: ReadSaml {
    /// Stores the settings of a company that this transaction has locked.
    fn keep_saml(
        &mut self,
        company: CompanyId,
        settings: &SamlSettings,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Records that a company's administrators were notified of the end of its certificate; `false` if they
    /// already were.
    fn note_end_told(&mut self, company: CompanyId, end: Timestamp) -> Result<bool, StoreError>;
}

//! Searches over all providers, for the operator.

use super::StoreError;
use crate::values::{CompanyId, EmailAddress, UserId};

/// A company that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCompany {
    pub id: CompanyId,
    pub name: String,
    pub domain: String,
}

pub trait ReadSearch {
    /// The companies whose domain or name contains `text`, ordered by name; at most `limit`. The comparison ignores
    /// case. In the embedded database, it ignores the case of ASCII letters only.
    fn search_companies(&mut self, text: &str, limit: i64) -> Result<Vec<FoundCompany>, StoreError>;

    /// The active users with this address, each with its company; at most `limit`.
    fn find_users_by_email(
        &mut self,
        email: &EmailAddress,
        limit: i64,
    ) -> Result<Vec<(UserId, CompanyId)>, StoreError>;
}

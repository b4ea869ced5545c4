//! What can change of a company.

use super::owner_name::OwnerName;
use crate::money::{Points, PointsPerDollar};
use crate::ports::{Denied, StoreError};
use crate::values::{DomainName, EmailAddress, InvalidValue, Line, Update, WebUrl};

/// What changes; what is `None` or `Keep` stays.
#[derive(Debug, Clone, Default)]
pub struct UpdateCompany {
    /// Its domain, which cannot change: only the present one is accepted.
    pub domain: Option<DomainName>,
    pub name: Option<Line>,
    /// Whose address the owner has: the present owner's, another active user's, or a new user's.
    pub owner_email: Option<EmailAddress>,
    /// The owner's full name.
    pub owner_name: Option<OwnerName>,
    pub logo_url: Option<WebUrl>,
    /// Its conversion rate: amounts stay, what they show changes at once.
    pub rate: Option<PointsPerDollar>,
    /// The points below which the reserve alerts.
    pub reserve_alert: Update<Points>,
    /// Who else receives the alert.
    pub reserve_bcc: Update<EmailAddress>,
}

/// Why a company was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCompanyError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Another domain was sent.
    #[error("domain cannot be changed")]
    OtherDomain,
    /// The owner's name is no name.
    #[error("owner_name {0}")]
    OwnerName(InvalidValue),
    #[error(transparent)]
    Store(#[from] StoreError),
}

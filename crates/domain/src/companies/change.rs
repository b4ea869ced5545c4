//! The changes that can be made to a company.

use super::owner_name::OwnerName;
use crate::model::Company;
use crate::money::{Points, PointsPerDollar};
use crate::ports::{Denied, StoreError};
use crate::values::{DomainName, EmailAddress, InvalidValue, SingleLine, Update, WebUrl};

/// The changes to make. Fields that are `None` or `Keep` do not change.
#[derive(Debug, Clone, Default)]
pub struct UpdateCompany {
    /// The company's domain. It cannot change: only the current domain is accepted.
    pub domain: Option<DomainName>,
    pub name: Option<SingleLine>,
    /// The address of the owner: the current owner, another active user, or a user who is created.
    pub owner_email: Option<EmailAddress>,
    /// The owner's full name.
    pub owner_name: Option<OwnerName>,
    pub logo_url: Option<WebUrl>,
    /// The conversion rate. Stored amounts do not change; the points that accounts show change immediately.
    pub rate: Option<PointsPerDollar>,
    /// The alert threshold of the reserve.
    pub reserve_alert: Update<Points>,
    /// An additional recipient of the alert.
    pub reserve_bcc: Update<EmailAddress>,
}

impl UpdateCompany {
    /// Changes the company's own fields. The owner and the domain do not change here.
    pub(super) fn apply(&self, company: &mut Company) {
        company.name = self.name.as_ref().unwrap_or(&company.name).clone();
        company.logo_url = self.logo_url.as_ref().unwrap_or(&company.logo_url).clone();
        company.rate = self.rate.unwrap_or(company.rate);
        self.reserve_alert.apply_to_field(&mut company.reserve_alert);
        self.reserve_bcc.apply_to_field(&mut company.reserve_bcc);
    }
}

/// Why a company was not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateCompanyError {
    /// The company cannot be used.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The update contains a domain other than the current one.
    #[error("domain cannot be changed")]
    OtherDomain,
    /// The owner's name is invalid.
    #[error("owner_name {0}")]
    OwnerName(InvalidValue),
    #[error(transparent)]
    Store(#[from] StoreError),
}

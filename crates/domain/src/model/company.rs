//! Companies.

use super::{Profile, full_name};
use crate::money::{Points, PointsPerDollar};
use crate::values::{
    CompanyId, CorporationId, DomainName, EmailAddress, ProviderId, SingleLine, Timestamp, UserId, WebUrl,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    pub id: CompanyId,
    pub provider_id: ProviderId,
    pub corporation_id: Option<CorporationId>,
    /// Its domain, unique across the service.
    pub domain: DomainName,
    pub name: SingleLine,
    /// The user who owns it and administers it.
    pub owner_id: UserId,
    /// The URL of its logo, never fetched and never returned.
    pub logo_url: WebUrl,
    pub rate: PointsPerDollar,
    /// The alert threshold of the reserve.
    pub reserve_alert: Option<Points>,
    /// An additional recipient of the alert.
    pub reserve_bcc: Option<EmailAddress>,
    /// Whether recognitions of zero points are allowed (behaviour 15.5).
    pub allow_zero_points: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was handed over to another cell. Until it is reopened, it can be read here, but not written.
    pub handed_over_at: Option<Timestamp>,
}

/// A company with the fields of its owner that the API shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyWithOwner {
    pub company: Company,
    pub owner_email: EmailAddress,
    pub owner_first_name: SingleLine,
    /// The owner's last name; `None` if the name of the owner is a single word.
    pub owner_last_name: Option<SingleLine>,
}

impl CompanyWithOwner {
    pub(crate) fn new(company: Company, owner: Profile) -> Self {
        Self {
            company,
            owner_email: owner.email,
            owner_first_name: owner.first_name,
            owner_last_name: owner.last_name,
        }
    }

    /// The owner's full name.
    pub fn owner_name(&self) -> String {
        full_name(&self.owner_first_name, self.owner_last_name.as_ref())
    }
}

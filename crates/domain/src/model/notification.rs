//! Notifications.

use crate::money::Points;
use crate::values::{CompanyId, IsoDate, Timestamp};
use crate::wallets::WalletType;

use super::Company;

/// The company that a notification is about, with its data at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifiedCompany {
    pub id: CompanyId,
    pub name: String,
    pub domain: String,
}

impl From<&Company> for NotifiedCompany {
    fn from(company: &Company) -> Self {
        let (name, domain) = (company.name.as_str().to_owned(), company.domain.as_str().to_owned());
        Self { id: company.id, name, domain }
    }
}

/// Something that the administrators of a company are notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// A payment, a new rate or a new threshold left the reserve below its alert threshold.
    ReserveLow { company: NotifiedCompany, threshold: Points, balance: Points },
    /// A scheduled distribution was refused; it is retried for a day.
    DistributionRefused {
        company: NotifiedCompany,
        due_on: IsoDate,
        points: Points,
        wallet: WalletType,
        reason: String,
    },
    /// The certificate of the company's identity provider expires within 30 days, or has expired.
    CertificateExpiring { company: NotifiedCompany, ends_at: Timestamp, has_ended: bool },
}

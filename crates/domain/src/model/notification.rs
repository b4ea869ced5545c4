//! Notifications. They are queued in the transaction that causes them, and sent by the channel of their recipient.

use uuid::Uuid;

use super::Company;
use crate::money::Points;
use crate::values::{CompanyId, EmailAddress, IsoDate, ProviderId, Timestamp, stored_enum};
use crate::wallets::WalletType;

stored_enum! {
    /// A channel through which notifications are sent. Each channel has its own sender.
    enum Channel {
        Mail => 1, "mail";
    }
}

/// Who receives a notification. The variant determines the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    Mail(EmailAddress),
}

impl Recipient {
    /// The channel that sends to this recipient.
    pub fn channel(&self) -> Channel {
        match self {
            Self::Mail(_) => Channel::Mail,
        }
    }

    /// The recipient's address in the format of the channel.
    pub fn address(&self) -> &str {
        match self {
            Self::Mail(address) => address.as_str(),
        }
    }
}

/// A notification to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotification {
    pub id: Uuid,
    /// The company that it is about.
    pub company_id: CompanyId,
    /// The provider of the company. Providers take turns, so that the notifications of one do not delay those of
    /// others.
    pub provider_id: ProviderId,
    pub recipient: Recipient,
    pub notification: Notification,
    /// When it was created.
    pub created_at: Timestamp,
}

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
    CertificateExpiring { company: NotifiedCompany, expires_at: Timestamp, has_expired: bool },
}

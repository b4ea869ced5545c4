//! Notifications as the outbox stores them: a JSON object with the kind and its data.

use std::borrow::Cow;

use guerdon_domain::money::Points;
use guerdon_domain::notifications::{Notification, NotifiedCompany};
use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::{CompanyId, IsoDate};
use guerdon_domain::wallets::WalletType;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct NotificationJson<'a> {
    company_name: Cow<'a, str>,
    company_domain: Cow<'a, str>,
    #[serde(flatten)]
    data: NotificationData<'a>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum NotificationData<'a> {
    ReserveLow {
        threshold: i64,
        balance: i64,
    },
    DistributionRefused {
        due_on: Cow<'a, str>,
        points: i64,
        /// The code of the wallet type.
        wallet: i16,
        reason: Cow<'a, str>,
    },
    #[serde(rename = "certificate_ending")]
    CertificateExpiring {
        #[serde(rename = "ends_at_micros")]
        expires_at_micros: i64,
        #[serde(rename = "has_ended")]
        has_expired: bool,
    },
}

/// Converts a notification to JSON.
pub(super) fn to_json(notification: &Notification) -> String {
    let (company, data) = match notification {
        Notification::ReserveLow { company, threshold, balance } => {
            (company, NotificationData::ReserveLow { threshold: threshold.get(), balance: balance.get() })
        }
        Notification::DistributionRefused { company, due_on, points, wallet, reason } => {
            let data = NotificationData::DistributionRefused {
                due_on: due_on.to_string().into(),
                points: points.get(),
                wallet: wallet.code(),
                reason: reason.into(),
            };
            (company, data)
        }
        Notification::CertificateExpiring { company, expires_at, has_expired } => {
            let data = NotificationData::CertificateExpiring {
                expires_at_micros: expires_at.unix_micros(),
                has_expired: *has_expired,
            };
            (company, data)
        }
    };
    let stored = NotificationJson {
        company_name: (&company.name).into(),
        company_domain: (&company.domain).into(),
        data,
    };
    serde_json::to_string(&stored).unwrap_or_default() // strings and numbers can always be serialized
}

/// Parses the JSON of a row; `None` if [`to_json`] does not write such JSON.
pub(super) fn from_json(id: CompanyId, json: &str) -> Option<Notification> {
    let NotificationJson { company_name, company_domain, data } = serde_json::from_str(json).ok()?;
    let company =
        NotifiedCompany { id, name: company_name.into_owned(), domain: company_domain.into_owned() };
    Some(match data {
        NotificationData::ReserveLow { threshold, balance } => Notification::ReserveLow {
            company,
            threshold: Points::new(threshold)?,
            balance: Points::new(balance)?,
        },
        NotificationData::DistributionRefused { due_on, points, wallet, reason } => {
            Notification::DistributionRefused {
                company,
                due_on: IsoDate::parse(&due_on).ok()?,
                points: Points::new(points)?,
                wallet: WalletType::from_code(wallet)?,
                reason: reason.into_owned(),
            }
        }
        NotificationData::CertificateExpiring { expires_at_micros, has_expired } => {
            Notification::CertificateExpiring {
                company,
                expires_at: Timestamp::from_unix_micros(expires_at_micros)?,
                has_expired,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_round_trip() {
        let id = CompanyId::from_uuid(uuid::Uuid::from_u128(7));
        let company = NotifiedCompany { id, name: "Bücher \"&\" Söhne".into(), domain: "b.example".into() };
        let points = |count| Points::new(count).unwrap();
        let (low, refused, expiring) = (
            Notification::ReserveLow { company: company.clone(), threshold: points(90), balance: points(85) },
            Notification::DistributionRefused {
                company: company.clone(),
                due_on: IsoDate::parse("2026-11-23").unwrap(),
                points: points(5),
                wallet: WalletType::Peer,
                reason: "Insufficient funds".into(),
            },
            Notification::CertificateExpiring {
                company,
                expires_at: Timestamp::UNIX_EPOCH,
                has_expired: true,
            },
        );
        let stored = r#""kind":"certificate_ending","ends_at_micros":0,"has_ended":true}"#;
        assert!(to_json(&expiring).ends_with(stored), "rows of earlier versions have these names");
        for notification in [low, refused, expiring] {
            assert_eq!(from_json(id, &to_json(&notification)), Some(notification));
        }
        for json in [
            "",
            "{}",
            r#"{"company_name":"a","company_domain":"b","kind":"reserve_low","threshold":-1,"balance":0}"#,
        ] {
            assert_eq!(from_json(id, json), None, "{json}");
        }
    }
}

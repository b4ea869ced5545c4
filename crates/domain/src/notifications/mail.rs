//! Renders notifications as mails: what has happened, what to do, and what happens until then.

use crate::model::{Notification, NotifiedCompany};
use crate::money::Points;
use crate::values::{IsoDate, Timestamp};
use crate::wallets::WalletType;

/// The content of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailText {
    /// One line.
    pub subject: String,
    /// Plain text.
    pub body: String,
}

impl Notification {
    /// The notification as a mail.
    pub fn to_mail(&self) -> MailText {
        match self {
            Self::ReserveLow { company, threshold, balance } => reserve_low(company, *threshold, *balance),
            Self::DistributionRefused { company, due_on, points, wallet, reason } => {
                distribution_refused(company, *due_on, (*points, *wallet), reason)
            }
            Self::CertificateExpiring { company, ends_at, has_ended } => {
                certificate_ending(company, *ends_at, *has_ended)
            }
        }
    }
}

fn reserve_low(company: &NotifiedCompany, threshold: Points, balance: Points) -> MailText {
    let NotifiedCompany { id, name, domain } = company;
    let (threshold, after) = (threshold.get(), balance.get());
    let missing = threshold.saturating_sub(after);
    let subject = format!("{name}: {after} points left in the reserve");
    let body = format!(
        "The points reserve of {name} ({domain}) is at {after} points. You asked to be notified below {threshold}.\n\n\
         What to do: ask the operator of your recognition service to deposit at least {missing} points for the company {id}.\n\n\
         Until then: recognitions that the company pays for go on while the reserve covers them, and are refused \
         once it does not. Points that people already hold are not touched.\n\n\
         This mail is sent once each time the reserve falls below {threshold} points. You receive it as an \
         administrator of {name}, or because your address was named for these alerts.\n"
    );
    MailText { subject, body }
}

fn distribution_refused(
    company: &NotifiedCompany,
    date: IsoDate,
    (points, wallet): (Points, WalletType),
    reason: &str,
) -> MailText {
    let NotifiedCompany { id, name, domain } = company;
    let (points, wallet) = (points.get(), wallet.name());
    let subject = format!("{name}: the distribution of {date} could not be paid");
    let body = format!(
        "The distribution of {date} at {name} ({domain}), {points} points into the {wallet} of each who has one, \
         could not be paid: {reason}. No user has received points from it.\n\n\
         What to do: where the reserve is short, have points added to it. Ask whoever runs your recognition service \
         to deposit them for the company {id}.\n\n\
         Until then: the distribution is tried again every hour, for a day from the first try. If it cannot be paid \
         within that time it is left out, and the schedule goes on with its next date.\n\n\
         This mail is sent once for each date that cannot be paid. You receive it as an administrator of {name}, or \
         because your address was named for its alerts.\n"
    );
    MailText { subject, body }
}

fn certificate_ending(company: &NotifiedCompany, end: Timestamp, has_ended: bool) -> MailText {
    let NotifiedCompany { name, domain, .. } = company;
    let (word, then) = if has_ended { ("has ended", "ended") } else { ("ends soon", "ends") };
    let subject = format!("{name}: the certificate of single sign-on {word}");
    let body = format!(
        "The certificate of the identity provider by which {name} ({domain}) signs on {then} at {end}.\n\n\
         What to do: have a new certificate made at your identity provider, and give it to whoever runs your \
         recognition service, with the metadata file of the identity provider.\n\n\
         Until then: nothing changes here. Once the certificate has ended, signing on may be refused.\n\n\
         This mail is sent once for each certificate. You receive it as an administrator of {name}.\n"
    );
    MailText { subject, body }
}

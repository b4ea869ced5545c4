//! Renders notifications as emails: what has happened, what to do, and what happens until then.

use guerdon_domain::money::Points;
use guerdon_domain::notifications::{Notification, NotifiedCompany};
use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::IsoDate;
use guerdon_domain::wallets::WalletType;

/// The content of an email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailText {
    /// The subject, one line.
    pub subject: String,
    /// The body, plain text.
    pub body: String,
}

impl MailText {
    /// Renders a notification.
    pub fn from_notification(notification: &Notification) -> Self {
        match notification {
            Notification::ReserveLow { company, threshold, balance } => {
                reserve_low(company, *threshold, *balance)
            }
            Notification::DistributionRefused { company, due_on, points, wallet, reason } => {
                distribution_refused(company, *due_on, (*points, *wallet), reason)
            }
            Notification::CertificateExpiring { company, expires_at, has_expired } => {
                certificate_expiring(company, *expires_at, *has_expired)
            }
        }
    }
}

fn reserve_low(company: &NotifiedCompany, threshold: Points, balance: Points) -> MailText {
    let NotifiedCompany { id, name, domain } = company;
    let missing = threshold.get().saturating_sub(balance.get());
    let missing = Points::new(missing).unwrap_or_default().to_text();
    let (threshold, left) = (threshold.to_text(), balance.to_text());
    let subject = format!("{name}: {left} left in the reserve");
    let body = format!(
        "The points reserve of {name} ({domain}) is at {left}. You asked to be notified below {threshold}.\n\n\
         What to do: ask the operator of your recognition service to deposit at least {missing} for the company {id}.\n\n\
         Until then: the company can send recognitions as long as the reserve covers them. Points in the wallets of \
         users are not affected.\n\n\
         This email is sent once each time the reserve falls below {threshold}. You receive it as an \
         administrator of {name}, or because your address is registered for these alerts.\n"
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
    let (points, wallet) = (points.to_text(), wallet.name().replace('_', " "));
    let subject = format!("{name}: the distribution of {date} could not be paid");
    let body = format!(
        "The distribution of {date} at {name} ({domain}), {points} into the {wallet} of each user who has \
         one, could not be paid: {reason}. No user has received points from it.\n\n\
         What to do: if the reserve does not cover it, ask the operator of your recognition service to deposit points \
         for the company {id}.\n\n\
         Until then: the distribution is retried every hour for a day. If it cannot be paid within that time, it is \
         skipped, and the schedule continues with its next date.\n\n\
         This email is sent once for each date that cannot be paid. You receive it as an administrator of {name}, or \
         because your address is registered for its alerts.\n"
    );
    MailText { subject, body }
}

fn certificate_expiring(company: &NotifiedCompany, end: Timestamp, has_expired: bool) -> MailText {
    let NotifiedCompany { name, domain, .. } = company;
    let (word, then, sign_on) = if has_expired {
        ("has expired", "expired", "Single sign-on may be refused until the new certificate is configured.")
    } else {
        (
            "expires soon",
            "expires",
            "Single sign-on works until the certificate expires; after that it may be refused.",
        )
    };
    let subject = format!("{name}: the single sign-on certificate {word}");
    let body = format!(
        "The certificate of the identity provider of {name} ({domain}) {then} at {end}.\n\n\
         What to do: create a new certificate at your identity provider, and send its metadata file to the operator \
         of your recognition service.\n\n\
         {sign_on}\n\n\
         This email is sent once for each certificate. You receive it as an administrator of {name}.\n"
    );
    MailText { subject, body }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::values::CompanyId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_mail_about_a_certificate_says_whether_single_sign_on_still_works() {
        let check = |has_expired, expected: &str| {
            let (name, domain) = ("Acme".to_owned(), "acme.example".to_owned());
            let company = NotifiedCompany { id: CompanyId::from_uuid(Uuid::nil()), name, domain };
            let body = certificate_expiring(&company, Timestamp::UNIX_EPOCH, has_expired).body;
            assert!(body.contains(expected), "{body}");
        };
        check(
            false,
            "\n\nSingle sign-on works until the certificate expires; after that it may be refused.\n\n",
        );
        check(true, "\n\nSingle sign-on may be refused until the new certificate is configured.\n\n");
    }
}

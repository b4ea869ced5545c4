//! The sender address of all emails.

use guerdon_domain::values::EmailAddress;
use lettre::Address;
use lettre::message::Mailbox;

const NAME_LENGTH_MAX: usize = 255;

/// The sender of all emails: an email address, optionally with a display name.
#[derive(Debug, Clone)]
pub struct FromAddress(Mailbox);

/// The string is not a valid sender address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an email address such as points@example.com, or a name and an address: Points <points@example.com>"
)]
pub struct InvalidFromAddress;

impl FromAddress {
    /// Parses `points@example.com` or `Points <points@example.com>`; the name may be in double quotes.
    pub fn parse(text: &str) -> Result<Self, InvalidFromAddress> {
        let (name, address) = match text.trim().strip_suffix('>') {
            Some(rest) => rest.rsplit_once('<').ok_or(InvalidFromAddress)?,
            None => ("", text.trim()),
        };
        let name = remove_quotes(name.trim());
        if name.chars().count() > NAME_LENGTH_MAX || name.chars().any(char::is_control) {
            return Err(InvalidFromAddress);
        }
        let mailbox = Mailbox::new(
            (!name.is_empty()).then_some(name),
            to_smtp_address(address).ok_or(InvalidFromAddress)?,
        );
        // lettre's message builder parses the header that it wrote, and accepts fewer forms of addresses than it
        // writes.
        let reparsed = mailbox.to_string().parse::<Mailbox>();
        reparsed
            .is_ok_and(|parsed| parsed.email == mailbox.email)
            .then_some(Self(mailbox))
            .ok_or(InvalidFromAddress)
    }

    /// The sender of emails that are written to files, if none is configured.
    pub fn local_default() -> Self {
        Self(Mailbox::new(Some("Guerdon".to_owned()), Address::new_dangerous("guerdon", "localhost")))
    }

    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.0
    }
}

/// An address in the form that mail servers accept: the local part unchanged, the domain in ASCII.
pub(crate) fn to_smtp_address(text: &str) -> Option<Address> {
    let address = EmailAddress::parse(text).ok()?;
    let (local, _) = address.as_str().rsplit_once('@')?;
    let (_, domain) = address.folded().rsplit_once('@')?;
    Some(Address::new_dangerous(local, domain))
}

fn remove_quotes(name: &str) -> String {
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_an_address_with_or_without_a_name() {
        let check = |text: &str, expected: Option<(Option<&str>, &str)>| {
            let sender = FromAddress::parse(text).ok();
            let found = sender.as_ref().map(|sender| (sender.0.name.as_deref(), sender.0.email.as_ref()));
            assert_eq!(found, expected, "{text:?}");
        };
        check("points@example.com", Some((None, "points@example.com")));
        check(" points@example.com ", Some((None, "points@example.com")));
        check("Points <points@example.com>", Some((Some("Points"), "points@example.com")));
        check("\"Points, Inc.\" <points@example.com>", Some((Some("Points, Inc."), "points@example.com")));
        check("Pünkte <points@example.com>", Some((Some("Pünkte"), "points@example.com")));
        check("Pünkte <points@bücher.example>", None); // its ASCII form is an address
        check("<points@example.com>", Some((None, "points@example.com")));
        check("Points points@example.com", None);
        check("Points", None);
        check("", None);
        check("Points\r\nBcc: eve@example.com <points@example.com>", None);
        check("points@example.com\r\n", Some((None, "points@example.com")));
        check("points@example.com\r\nBcc: eve@example.com", None);
    }
}

//! The URL of a mail server (`mail.smtp_url`). lettre does not read it: for lettre, `smtp://` means no encryption, for
//! any host.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use lettre::transport::smtp::authentication::Credentials;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

/// How a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    /// The connection is not encrypted.
    None,
    /// The connection is encrypted by STARTTLS. A server that does not offer it receives no password and no email.
    StartTls,
    /// The connection is encrypted by TLS from the first byte.
    Wrapped,
}

/// A mail server and how to connect to it.
///
/// - `smtps://host` is TLS from the start, on port 465.
/// - `smtp://host` is STARTTLS on port 587. A server that does not offer it, or has no certificate of a trusted root,
///   receives nothing.
/// - `smtp://host?tls=none` is plain text on port 25, as is `smtp://` with a loopback host (`localhost`,
///   `127.0.0.0/8`, `::1`), unless `?tls=required` is added.
///
/// A user and a password precede the host, as in `smtps://user:password@host`. Special characters in them, such as `@`,
/// `:`, `/` and `%`, are percent-encoded.
#[derive(Clone)]
pub struct SmtpUrl {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) encryption: Encryption,
    pub(super) credentials: Option<Credentials>,
}

/// Why a string is not the URL of a mail server. The message does not repeat the string, which may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSmtpUrl {
    /// The string is not a URL of a mail server.
    #[error("must be smtp://host or smtps://host, with or without user:password@ and :port")]
    Form,
    /// The user or the password is missing or malformed.
    #[error(
        "must name both a user and a password, or neither, percent-encoded and without control characters"
    )]
    Credentials,
    /// The URL has unknown parameters, a path or a fragment.
    #[error("the only query allowed is ?tls=required or, with smtp://, ?tls=none")]
    Parameters,
}

impl SmtpUrl {
    /// Parses the URL, and logs a warning if a password would be sent without encryption.
    pub fn parse(text: &str) -> Result<Self, InvalidSmtpUrl> {
        let Ok(url) = Url::parse(text) else { return Err(InvalidSmtpUrl::Form) };
        let (host, is_loopback) = parse_host(&url).ok_or(InvalidSmtpUrl::Form)?;
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() {
            return Err(InvalidSmtpUrl::Parameters);
        }
        let encryption = match (url.scheme(), url.query()) {
            ("smtps", None | Some("tls=required")) => Encryption::Wrapped,
            ("smtp", Some("tls=required")) => Encryption::StartTls,
            ("smtp", Some("tls=none")) => Encryption::None,
            ("smtp", None) if is_loopback => Encryption::None,
            ("smtp", None) => Encryption::StartTls,
            ("smtp" | "smtps", Some(_)) => return Err(InvalidSmtpUrl::Parameters),
            _ => return Err(InvalidSmtpUrl::Form),
        };
        let default_port = match encryption {
            Encryption::None => 25,
            Encryption::StartTls => 587,
            Encryption::Wrapped => 465,
        };
        let port = url.port().unwrap_or(default_port);
        let credentials = parse_credentials(&url)?;
        if credentials.is_some() && encryption == Encryption::None && !is_loopback {
            log::warn!("mail.smtp_url has tls=none: the password is sent unencrypted");
        }
        Ok(Self { host, port, encryption, credentials })
    }
}

impl fmt::Debug for SmtpUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("SmtpUrl");
        debug.field("host", &self.host).field("port", &self.port).field("encryption", &self.encryption);
        debug.finish_non_exhaustive()
    }
}

/// The host, and whether it is a loopback address.
fn parse_host(url: &Url) -> Option<(String, bool)> {
    match url.host()? {
        Host::Ipv6(address) => Some((address.to_string(), address.is_loopback())),
        Host::Ipv4(address) => Some((address.to_string(), address.is_loopback())),
        Host::Domain(name) => {
            let name = name.to_ascii_lowercase();
            let is_valid =
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
            let is_loopback =
                name == "localhost" || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback());
            is_valid.then_some((name, is_loopback))
        }
    }
}

fn parse_credentials(url: &Url) -> Result<Option<Credentials>, InvalidSmtpUrl> {
    let decoded = |text: &str| match percent_decode_str(text).decode_utf8() {
        Ok(text) if !text.is_empty() && !text.chars().any(char::is_control) => Ok(text.into_owned()),
        _ => Err(InvalidSmtpUrl::Credentials),
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        (user, Some(password)) => Ok(Some(Credentials::new(decoded(user)?, decoded(password)?))),
        (_, None) => Err(InvalidSmtpUrl::Credentials),
    }
}

/// The client name for EHLO, or `None` if `name` is neither a host name nor an IP address, with or without brackets.
pub(super) fn client_name(name: &str) -> Option<lettre::transport::smtp::extension::ClientId> {
    use lettre::transport::smtp::extension::ClientId;

    match name.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => Some(ClientId::Ipv4(address)),
        Ok(IpAddr::V6(address)) => Some(ClientId::Ipv6(address)),
        Err(_) => {
            let is_name = !name.is_empty()
                && name.len() <= 253
                && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
            is_name.then(|| ClientId::Domain(name.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_selects_the_encryption() {
        let check = |text: &str, expected: Option<(&str, u16, Encryption)>| {
            let url = SmtpUrl::parse(text).ok();
            let found = url.as_ref().map(|url| (url.host.as_str(), url.port, url.encryption));
            assert_eq!(found, expected, "{text}");
        };
        check("smtps://mail.example.com", Some(("mail.example.com", 465, Encryption::Wrapped)));
        check(
            "smtps://mail.example.com:4650?tls=required",
            Some(("mail.example.com", 4650, Encryption::Wrapped)),
        );
        check("smtp://mail.example.com", Some(("mail.example.com", 587, Encryption::StartTls)));
        check("smtp://Mail.Example.com:25/", Some(("mail.example.com", 25, Encryption::StartTls)));
        check("smtp://mail.example.com?tls=none", Some(("mail.example.com", 25, Encryption::None)));
        check("smtp://localhost", Some(("localhost", 25, Encryption::None)));
        check("smtp://localhost:2525?tls=required", Some(("localhost", 2525, Encryption::StartTls)));
        check("smtp://127.0.0.9", Some(("127.0.0.9", 25, Encryption::None)));
        check("smtp://[::1]:2525", Some(("::1", 2525, Encryption::None)));
        check("smtp://192.0.2.1", Some(("192.0.2.1", 587, Encryption::StartTls)));
        check("smtp://localhost.example.com", Some(("localhost.example.com", 587, Encryption::StartTls)));
        check("smtps://mail.example.com?tls=none", None);
        check("smtp://mail.example.com?tls=opportunistic", None);
        check("smtp://mail.example.com?tls=none&tls=required", None);
        check("smtp://mail.example.com/inbox", None);
        check("smtp://mail.example.com#a", None);
        check("http://mail.example.com", None);
        check("smtp:mail.example.com", None);
        check("smtp://", None);
        check("smtp://a%0d%0ab", None);
        check("mail.example.com", None);
    }

    #[test]
    fn a_user_and_a_password_are_percent_decoded() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let credentials = SmtpUrl::parse(text).ok().and_then(|url| url.credentials);
            let expected = expected.map(|(user, password)| Credentials::new(user.into(), password.into()));
            assert!(credentials == expected, "{text}");
        };
        check("smtps://ada:secret@mail.example.com", Some(("ada", "secret")));
        check(
            "smtps://ada%40example.com:p%40ss%2Fw%25rd%3A@mail.example.com",
            Some(("ada@example.com", "p@ss/w%rd:")),
        );
        check("smtps://ada:p%C3%A4ss+1@mail.example.com", Some(("ada", "päss+1")));
        check("smtps://ada@mail.example.com", None);
        check("smtps://:secret@mail.example.com", None);
        check("smtps://ada:a%0D%0Ab@mail.example.com", None);
        check("smtps://ada:%FF@mail.example.com", None);
        assert!(SmtpUrl::parse("smtps://ada@mail.example.com").is_err());
    }

    #[test]
    fn a_password_is_never_shown() {
        let url = SmtpUrl::parse("smtps://ada:secret@mail.example.com").unwrap();
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn the_client_name_is_a_host_name_or_an_address() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(client_name(name).map(|client| client.to_string()).as_deref(), expected, "{name:?}");
        };
        check("guerdon.example.com", Some("guerdon.example.com"));
        check("192.0.2.1", Some("[192.0.2.1]"));
        check("[2001:db8::1]", Some("[IPv6:2001:db8::1]"));
        check("", None);
        check("a b", None);
        check("a\r\nMAIL FROM:<eve@example.com>", None);
    }
}

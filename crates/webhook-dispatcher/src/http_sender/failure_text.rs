//! Describes why an attempt failed, in a few words for the operator. The description contains no sent data, and of the
//! received data only the names in a certificate that does not match the host.

use std::io::{self, ErrorKind};

use ureq::{Error, Timeout};

use crate::egress_policy::EgressDenied;

/// The maximum number of characters of a description. The rest of a longer one adds no information.
const LENGTH_MAX: usize = 200;

pub(super) fn describe_error(error: &Error) -> String {
    let failure = match error {
        Error::Timeout(Timeout::Resolve) => "the host name was not resolved in time".to_owned(),
        Error::Timeout(Timeout::Connect) => "no connection in time".to_owned(),
        Error::Timeout(_) => "no response in time".to_owned(),
        Error::HostNotFound => "the host name is unknown".to_owned(),
        Error::LargeResponseHeader(..) => "the response headers are too long".to_owned(),
        Error::Protocol(_) => "the response is not HTTP".to_owned(),
        Error::Io(error) => describe_io_error(error),
        Error::Rustls(error) => format!("TLS: {error}"),
        Error::Tls(error) => format!("TLS: {error}"),
        Error::ConnectionFailed => "no connection".to_owned(),
        Error::Other(error) => match error.downcast_ref::<EgressDenied>() {
            Some(denied) => denied.to_string(),
            None => "the request failed".to_owned(),
        },
        _ => "the request failed".to_owned(),
    };
    // Names in a certificate can contain any character, but PostgreSQL stores no U+0000.
    let replace_control = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    failure.chars().map(replace_control).take(LENGTH_MAX).collect()
}

fn describe_io_error(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "connection reset".to_owned()
        }
        ErrorKind::UnexpectedEof => "connection closed without a response".to_owned(),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no response in time".to_owned(),
        // TLS errors from rustls have this kind, and the operator needs the reason.
        ErrorKind::InvalidData => format!("TLS: {error}"),
        kind => kind.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_short_and_has_no_control_characters() {
        let check = |text: &str, expected: &str| {
            let error = Error::Io(io::Error::new(ErrorKind::InvalidData, text.to_owned()));
            assert_eq!(describe_error(&error), expected);
        };
        check("not valid for a\0b\n", "TLS: not valid for a\u{fffd}b\u{fffd}");
        check(&"x".repeat(300), &format!("TLS: {}", "x".repeat(LENGTH_MAX - 5)));
    }
}

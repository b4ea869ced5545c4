//! Describes why an attempt failed, in a few words for the operator. The description never contains sent or received
//! data.

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
    failure.chars().take(LENGTH_MAX).collect()
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

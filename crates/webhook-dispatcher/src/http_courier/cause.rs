//! Describes why an attempt failed, in a few words for the operator. The description never contains sent or received
//! data.

use std::io::{self, ErrorKind};

use ureq::{Error, Timeout};

use crate::guard::Refused;

/// Longer causes add no information.
const LENGTH_MAX: usize = 200;

pub(super) fn of(error: &Error) -> String {
    let cause = match error {
        Error::Timeout(Timeout::Resolve) => "the host name was not resolved in time".to_owned(),
        Error::Timeout(Timeout::Connect) => "no connection in time".to_owned(),
        Error::Timeout(_) => "no answer in time".to_owned(),
        Error::HostNotFound => "the host name is unknown".to_owned(),
        Error::LargeResponseHeader(..) => "the head of the answer is too long".to_owned(),
        Error::Protocol(_) => "the answer is not HTTP".to_owned(),
        Error::Io(cause) => of_io(cause),
        Error::Rustls(cause) => format!("TLS: {cause}"),
        Error::Tls(cause) => format!("TLS: {cause}"),
        Error::ConnectionFailed => "no connection".to_owned(),
        Error::Other(cause) => match cause.downcast_ref::<Refused>() {
            Some(refused) => refused.to_string(),
            None => "the request failed".to_owned(),
        },
        _ => "the request failed".to_owned(),
    };
    cause.chars().take(LENGTH_MAX).collect()
}

fn of_io(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "connection reset".to_owned()
        }
        ErrorKind::UnexpectedEof => "connection closed without an answer".to_owned(),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => "no answer in time".to_owned(),
        // rustls reports its errors with this kind, and the operator needs the reason.
        ErrorKind::InvalidData => format!("TLS: {cause}"),
        kind => kind.to_string(),
    }
}

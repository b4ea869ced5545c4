//! The interface of mail transports, and the transport that writes files.

mod folder;

use std::time::Duration;

use crate::failure::SendFailure;
use crate::mail::Mail;

pub use folder::FolderTransport;

/// The time limit for sending one email. The mailer starts no email when less than this time is left of its lease.
pub(crate) const SEND_DURATION_MAX: Duration = Duration::from_secs(30);

/// A way to send emails.
pub trait MailTransport: Send {
    /// Sends one email within 30 seconds. `Ok` means that the receiving side has confirmed it.
    fn send_mail(&mut self, mail: &Mail) -> Result<(), SendFailure>;

    /// Checks whether emails can be sent, as far as that is possible without sending one.
    fn check_connection(&mut self) -> Result<(), SendFailure> {
        Ok(())
    }

    /// Called at the end of each batch: closes open connections.
    fn close_connection(&mut self) {}
}

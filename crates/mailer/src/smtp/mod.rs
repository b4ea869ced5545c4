//! Sends emails over SMTP.

mod connection;
mod session;
mod url;

use std::time::Duration;

use lettre::transport::smtp::client::{Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;

use crate::encoded_message::EncodedMessage;
use crate::failure::SendFailure;
use crate::from_address::FromAddress;
use crate::mail::Mail;
use crate::transport::{MailTransport, SEND_DURATION_MAX};
use connection::ServerSettings;
use session::SmtpSession;

pub use url::{InvalidSmtpUrl, SmtpUrl};

/// Root certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the root certificates for the mail server cannot be used: {0}")]
pub struct InvalidRoots(String);

/// Sends emails to a mail server, over one connection per batch.
pub struct SmtpTransport {
    server: ServerSettings,
    sender: FromAddress,
    time_limit: Duration,
    session: Option<SmtpSession>,
}

impl SmtpTransport {
    /// Creates a transport that trusts the public root certificates and those in `extra_roots` (PEM), which may be
    /// empty.
    pub fn new(url: SmtpUrl, sender: FromAddress, extra_roots: &[u8]) -> Result<Self, InvalidRoots> {
        let tls =
            build_tls_parameters(&url.host, extra_roots).map_err(|cause| InvalidRoots(cause.to_string()))?;
        let server = ServerSettings { url, tls, client_name: ClientId::default() };
        Ok(Self { server, sender, time_limit: SEND_DURATION_MAX, session: None })
    }

    /// Sets the name that is sent with EHLO: the public name of this machine. A string that is neither a host name nor
    /// an IP address is ignored; the default is `[127.0.0.1]`.
    #[must_use]
    pub fn with_client_name(mut self, name: &str) -> Self {
        if let Some(client_name) = url::client_name(name) {
            self.server.client_name = client_name;
        }
        self
    }

    /// Sets the time limit for each email, including the connection set-up. The default is 30 seconds.
    #[must_use]
    pub fn with_timeout(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }
}

impl MailTransport for SmtpTransport {
    fn send_mail(&mut self, mail: &Mail) -> Result<(), SendFailure> {
        let message = EncodedMessage::encode_mail(mail, &self.sender)?;
        let mut session = self.session.take().map_or_else(SmtpSession::new, Ok)?;
        let result = session.send_message(&self.server, &message, self.time_limit);
        self.session = Some(session);
        result
    }

    fn check_connection(&mut self) -> Result<(), SendFailure> {
        let mut session = SmtpSession::new()?;
        let result = session.open_connection(&self.server, self.time_limit);
        session.close_session();
        result
    }

    fn close_connection(&mut self) {
        if let Some(session) = self.session.take() {
            session.close_session();
        }
    }
}

impl Drop for SmtpTransport {
    fn drop(&mut self) {
        self.close_connection();
    }
}

fn build_tls_parameters(
    host: &str,
    extra_roots: &[u8],
) -> Result<TlsParameters, lettre::transport::smtp::Error> {
    TlsParameters::builder(host.to_owned()).add_root_certificate(Certificate::from_pem(extra_roots)?).build()
}

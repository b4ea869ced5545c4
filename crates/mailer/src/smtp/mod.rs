//! Mails by SMTP.

mod dialogue;
mod session;
mod url;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use guerdon_domain::ports::ClaimedMail;
use lettre::transport::smtp::client::{Certificate, TlsParameters, TlsParametersBuilder};
use lettre::transport::smtp::extension::ClientId;

use crate::from_address::FromAddress;
use crate::letter::Letter;
use crate::transport::{Failure, SENDING_MAX, Transport};
use dialogue::{Connection, Plan};
use session::Session;
use url::Encryption;

pub use url::{InvalidSmtpUrl, SmtpUrl};

/// Sessions that may hang at a time before no more are opened.
const HANGING_MAX: usize = 4;

/// Root certificates that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the root certificates for the mail server cannot be used: {0}")]
pub struct InvalidRoots(String);

/// Sends mails to a mail server; one connection for a batch.
///
/// The dialogue runs on a thread of its own: however slowly a server drips its answers, no mail takes longer than
/// the limit. A session that exceeds it is left behind and ends with its connection.
pub struct SmtpTransport {
    url: SmtpUrl,
    sender: FromAddress,
    hello: ClientId,
    limit: Duration,
    tls: TlsParameters,
    session: Option<Session>,
    /// One reference for each session that has not ended, and this one.
    alive: Arc<()>,
}

impl SmtpTransport {
    /// A transport that trusts the public roots, and those in `extra_roots` (PEM), which may be empty.
    pub fn new(url: SmtpUrl, sender: FromAddress, extra_roots: &[u8]) -> Result<Self, InvalidRoots> {
        let tls = tls(&url.host, extra_roots).map_err(|cause| InvalidRoots(cause.to_string()))?;
        let (hello, alive) = (ClientId::default(), Arc::new(()));
        Ok(Self { url, sender, hello, limit: SENDING_MAX, tls, session: None, alive })
    }

    /// The name under which to greet the server: this machine's, as others know it. What is neither a host name nor
    /// an address is passed over; the default is `[127.0.0.1]`.
    #[must_use]
    pub fn greeting_as(mut self, name: &str) -> Self {
        self.hello = url::hello(name).unwrap_or(self.hello);
        self
    }

    /// Another limit than 30 s for each mail, connecting included.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    fn open(&self) -> Result<Session, Failure> {
        if Arc::strong_count(&self.alive) > HANGING_MAX {
            return Err(Failure::server(format!("{HANGING_MAX} connections still hang")));
        }
        let plan = Plan {
            url: self.url.clone(),
            tls: self.tls.clone(),
            hello: self.hello.clone(),
            limit: self.limit,
        };
        let session = Session::open(plan, Arc::clone(&self.alive));
        session.map_err(|cause| Failure::server(format!("no thread for a connection: {cause}")))
    }
}

impl Transport for SmtpTransport {
    fn send(&mut self, mail: &ClaimedMail) -> Result<(), Failure> {
        let letter = Letter::write(mail, &self.sender)?;
        let session = match self.session.take() {
            Some(session) => session,
            None => self.open()?,
        };
        let result = match session.answer_to(letter, self.limit) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) if session.connected.load(Ordering::Relaxed) => {
                return Err(Failure::mail(format!("no end within {:?}", self.limit)));
            }
            Err(RecvTimeoutError::Timeout) => {
                return Err(Failure::server(format!("connecting: no end within {:?}", self.limit)));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::mail("the program failed in the dialogue"));
            }
        };
        self.session = Some(session);
        result
    }

    fn check(&mut self) -> Result<(), Failure> {
        let plan = Plan {
            url: self.url.clone(),
            tls: self.tls.clone(),
            hello: self.hello.clone(),
            limit: self.limit,
        };
        Connection::open(&plan).map(Connection::quit)
    }

    fn rest(&mut self) {
        self.session = None;
    }
}

fn tls(host: &str, extra_roots: &[u8]) -> Result<TlsParameters, lettre::transport::smtp::Error> {
    let builder = TlsParametersBuilder::new(host.to_owned());
    let roots = Certificate::from_pem(extra_roots)?;
    builder.add_root_certificate(roots).build()
}

impl Plan {
    fn wrapped(&self) -> Option<&TlsParameters> {
        (self.url.encryption == Encryption::Wrapped).then_some(&self.tls)
    }

    fn starts_tls(&self) -> Option<&TlsParameters> {
        (self.url.encryption == Encryption::StartTls).then_some(&self.tls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_hang_do_not_pile_up() {
        let url = SmtpUrl::parse("smtp://localhost").unwrap();
        let transport = SmtpTransport::new(url, FromAddress::local(), b"").unwrap();
        let hanging: Vec<_> = (0..HANGING_MAX).map(|_| Arc::clone(&transport.alive)).collect();
        let failure = transport.open().err().unwrap();
        assert_eq!(failure.fault(), crate::transport::Fault::Server);
        drop(hanging);
        assert!(transport.open().is_ok());
    }
}

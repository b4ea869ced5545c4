//! The blocking client, over ureq.

use std::io::ErrorKind;
use std::thread::sleep; // tidy: between two attempts

use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::api::Api;
use crate::call::Call;
use crate::certificates::read_certificates;
use crate::error::{Error, tls_error, untrusted_certificate};
use crate::pagination::{Items, Pages};
use crate::request::Request;
use crate::response::{Response, read_body};
use crate::retries::{ATTEMPT_TIMEOUT, AttemptFailure, Retries, RetryDecision};
use crate::service_endpoint::{Credentials, ServiceEndpoint};

/// The blocking client. It connects through the HTTP proxy that the environment variable `ALL_PROXY`, `HTTPS_PROXY` or
/// `HTTP_PROXY` names (the first that is set), unless `NO_PROXY` contains the host of the service.
pub type Client = Api<BlockingConnection>;

/// The connections of a [`Client`].
#[derive(Clone)]
pub struct BlockingConnection {
    agent: Agent,
}

impl Client {
    /// Creates a client of a service whose certificate is issued by a public authority. `base` is the service's
    /// address, such as `https://guerdon.example`, with or without the version.
    pub fn new(base: &str, credentials: &Credentials) -> Self {
        Self::with_connection(BlockingConnection::new(TlsConfig::builder().build()), base, credentials)
    }

    /// Creates a client of a service with a private certificate. `pem` contains the certificates to trust: the
    /// service's own certificate, or that of the authority that issued it. No other certificate is trusted.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`] if `pem` contains no certificate.
    pub fn with_root_certificates(base: &str, credentials: &Credentials, pem: &[u8]) -> Result<Self, Error> {
        let certificates = read_certificates(pem)?;
        let certificates: Vec<_> =
            certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)).build();
        Ok(Self::with_connection(BlockingConnection::new(tls), base, credentials))
    }
}

impl BlockingConnection {
    fn new(tls: TlsConfig) -> Self {
        let agent = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(ATTEMPT_TIMEOUT))
            .build()
            .into();
        Self { agent }
    }

    fn send_once(&self, service: &ServiceEndpoint, request: &Request) -> Result<Response, AttemptFailure> {
        let run = || {
            let head = service.request_builder(request);
            let mut response = match &request.body {
                Some(body) => self.agent.run(head.body(body.clone())?)?,
                None => self.agent.run(head.body(())?)?,
            };
            let limit = service.response_max_bytes;
            let body = response.body_mut().with_config().limit(limit).read_to_vec()?;
            Ok(Response::new(response.status().as_u16(), response.headers(), body))
        };
        run().map_err(classify_error)
    }

    fn send_with_retries(&self, service: &ServiceEndpoint, request: &Request) -> Result<String, Error> {
        service.require_encryption()?;
        let mut retries = Retries::new(request);
        loop {
            match retries.evaluate_attempt(self.send_once(service, request)) {
                RetryDecision::Return(result) => return result,
                RetryDecision::RetryAfter(wait) => sleep(wait),
            }
        }
    }
}

impl<T: DeserializeOwned> Call<'_, BlockingConnection, T> {
    /// Sends the request, and retries it after transient failures.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub fn send(self) -> Result<T, Error> {
        let (connection, service) = (self.connection, self.service);
        let request = self.into_request()?;
        let body = connection.send_with_retries(service, &request)?;
        read_body(&body).map_err(|error| request.with_unknown_outcome(error))
    }
}

impl<P: Pages> Iterator for Items<'_, BlockingConnection, P> {
    type Item = Result<P::Item, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.pages.take_item() {
                return Some(Ok(item));
            }
            let page = self.api.get(self.pages.next_path()?).send();
            if let Err(error) = self.pages.accept_page(page) {
                return Some(Err(error));
            }
        }
    }
}

fn classify_error(error: ureq::Error) -> AttemptFailure {
    let tls = match &error {
        ureq::Error::Io(cause) => tls_error(cause),
        ureq::Error::Rustls(cause) => Some(cause),
        _ => None,
    };
    let is_permanent = tls.is_some()
        || matches!(
            error,
            ureq::Error::BadUri(_)
                | ureq::Error::Http(_)
                | ureq::Error::Tls(_)
                | ureq::Error::BodyExceedsLimit(_)
        );
    let untrusted = tls.and_then(untrusted_certificate);
    let may_have_been_sent = untrusted.is_none()
        && match &error {
            ureq::Error::Io(cause) => cause.kind() != ErrorKind::ConnectionRefused,
            ureq::Error::BadUri(_)
            | ureq::Error::Http(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectProxyFailed(_)
            | ureq::Error::ConnectionFailed => false,
            _ => true,
        };
    let error = match (untrusted, error) {
        (Some(untrusted), _) => untrusted,
        (None, ureq::Error::BodyExceedsLimit(limit)) => Error::TooLarge(limit),
        (None, error) => Error::Unreachable(error.to_string()),
    };
    AttemptFailure { error, is_permanent, may_have_been_sent }
}

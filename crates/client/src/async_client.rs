//! The async client, over hyper.

use std::error::Error as StdError;
use std::sync::Arc;

use http::Uri;
use http::uri::Scheme;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client as HttpClient, Error as HttpError};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring::default_provider;
use rustls::{ClientConfig, RootCertStore};
use serde::de::DeserializeOwned;

use crate::api::Api;
use crate::call::Call;
use crate::certificates::read_certificates;
use crate::error::{Error, tls_error, untrusted_certificate};
use crate::pagination::{Items, Pages};
use crate::request::Request;
use crate::response::{Response, read_body};
use crate::retries::{ATTEMPT_TIMEOUT, AttemptFailure, Retries, RetryDecision};
use crate::service_endpoint::{Credentials, ServiceEndpoint};

/// The async client. Use it in a tokio runtime with I/O and time enabled. It connects to an https address through the
/// HTTP proxy that the environment variable `HTTPS_PROXY` or else `ALL_PROXY` names, unless `NO_PROXY` contains the
/// host of the service or its domain.
pub type AsyncClient = Api<AsyncConnection>;

/// The connections of an [`AsyncClient`].
#[derive(Clone)]
pub struct AsyncConnection {
    client: ConnectionPool,
}

#[derive(Clone)]
enum ConnectionPool {
    Direct(HttpClient<HttpsConnector<HttpConnector>, String>),
    /// Connections through a proxy at this address.
    Proxied(Box<HttpClient<HttpsConnector<Tunnel<HttpConnector>>, String>>, String),
}

type BoxedError = Box<dyn StdError + Send + Sync>;

impl AsyncClient {
    /// Creates a client of a service whose certificate is issued by a public authority. `base` is the service's
    /// address, such as `https://guerdon.example`, with or without the version.
    ///
    /// # Errors
    ///
    /// [`Error::Tls`] if TLS cannot be set up, and [`Error::Unreachable`] if the environment names a proxy that is not
    /// an HTTP proxy.
    pub fn new(base: &str, credentials: &Credentials) -> Result<Self, Error> {
        let tls = tls_builder()?.with_webpki_roots().with_no_client_auth();
        Ok(Self::with_connection(AsyncConnection::new(tls, base)?, base, credentials))
    }

    /// Creates a client of a service with a private certificate. `pem` contains the certificates to trust: the
    /// service's own certificate, or that of the authority that issued it. No other certificate is trusted.
    ///
    /// # Errors
    ///
    /// [`Error::Certificate`] if `pem` contains no certificate; otherwise as for [`AsyncClient::new`].
    pub fn with_root_certificates(base: &str, credentials: &Credentials, pem: &[u8]) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(read_certificates(pem)?);
        let tls = tls_builder()?.with_root_certificates(roots).with_no_client_auth();
        Ok(Self::with_connection(AsyncConnection::new(tls, base)?, base, credentials))
    }
}

impl AsyncConnection {
    fn new(tls: ClientConfig, base: &str) -> Result<Self, Error> {
        let client = HttpClient::builder(TokioExecutor::new());
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let client = match proxy_for(base)? {
            None => ConnectionPool::Direct(client.build(connector.build())),
            Some(proxy) => {
                let tunnel = Tunnel::new(proxy.uri().clone(), HttpConnector::new());
                let tunnel = match proxy.basic_auth() {
                    Some(credentials) => tunnel.with_auth(credentials.clone()),
                    None => tunnel,
                };
                let address = proxy
                    .uri()
                    .authority()
                    .map(|address| format!("{}:{}", address.host(), address.port_u16().unwrap_or(80)));
                ConnectionPool::Proxied(
                    Box::new(client.build(connector.wrap_connector(tunnel))),
                    address.unwrap_or_default(),
                )
            }
        };
        Ok(Self { client })
    }

    async fn send_once(
        &self,
        service: &ServiceEndpoint,
        request: &Request,
    ) -> Result<Response, AttemptFailure> {
        let exchange = async {
            let head = service.request_builder(request).body(request.body.clone().unwrap_or_default())?;
            let response = match &self.client {
                ConnectionPool::Direct(client) => client.request(head),
                ConnectionPool::Proxied(client, _) => client.request(head),
            };
            let (head, body) = response.await?.into_parts();
            let limit = usize::try_from(service.response_max_bytes).unwrap_or(usize::MAX);
            let body = Limited::new(body, limit).collect().await?.to_bytes();
            Ok(Response::new(head.status.as_u16(), &head.headers, body.into()))
        };
        match tokio::time::timeout(ATTEMPT_TIMEOUT, exchange).await {
            Ok(result) => result.map_err(|error: BoxedError| self.classify_error(service, error.as_ref())),
            Err(elapsed) => Err(AttemptFailure {
                error: Error::Unreachable(elapsed.to_string()),
                is_permanent: false,
                may_have_been_sent: true,
            }),
        }
    }

    fn classify_error(&self, service: &ServiceEndpoint, error: &(dyn StdError + 'static)) -> AttemptFailure {
        if error.is::<LengthLimitError>() {
            let error = Error::TooLarge(service.response_max_bytes);
            return AttemptFailure { error, is_permanent: true, may_have_been_sent: true };
        }
        let tls = tls_error(error);
        let is_invalid = error.is::<http::Error>();
        let is_permanent = tls.is_some() || is_invalid;
        let is_unconnected = error.downcast_ref::<HttpError>().is_some_and(HttpError::is_connect);
        let error = tls.and_then(untrusted_certificate).unwrap_or_else(|| {
            let cause = root_cause_text(error);
            Error::Unreachable(match &self.client {
                ConnectionPool::Proxied(_, proxy) if is_unconnected => format!("proxy {proxy}: {cause}"),
                ConnectionPool::Direct(_) | ConnectionPool::Proxied(..) => cause,
            })
        });
        AttemptFailure { error, is_permanent, may_have_been_sent: !is_invalid && !is_unconnected }
    }

    async fn send_with_retries(&self, service: &ServiceEndpoint, request: &Request) -> Result<String, Error> {
        service.require_encryption()?;
        let mut retries = Retries::new(request);
        loop {
            match retries.evaluate_attempt(self.send_once(service, request).await) {
                RetryDecision::Return(result) => return result,
                RetryDecision::RetryAfter(wait) => tokio::time::sleep(wait).await,
            }
        }
    }
}

impl<T: DeserializeOwned> Call<'_, AsyncConnection, T> {
    /// Sends the request, and retries it after transient failures.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn send(self) -> Result<T, Error> {
        let (connection, service) = (self.connection, self.service);
        let request = self.into_request()?;
        let body = connection.send_with_retries(service, &request).await?;
        read_body(&body).map_err(|error| request.with_unknown_outcome(error))
    }
}

impl<P: Pages> Items<'_, AsyncConnection, P> {
    /// Returns the next item, or `None` after the last item or after an error.
    pub async fn next(&mut self) -> Option<Result<P::Item, Error>> {
        loop {
            if let Some(item) = self.pages.take_item() {
                return Some(Ok(item));
            }
            let page = self.api.get(self.pages.next_path()?).send().await;
            if let Err(error) = self.pages.accept_page(page) {
                return Some(Err(error));
            }
        }
    }
}

/// The proxy that the environment names for an https address.
fn proxy_for(base: &str) -> Result<Option<Intercept>, Error> {
    let base = base.parse::<Uri>().ok().filter(|base| base.scheme() == Some(&Scheme::HTTPS));
    let Some(proxy) = base.and_then(|base| Matcher::from_env().intercept(&base)) else { return Ok(None) };
    if proxy.uri().scheme() == Some(&Scheme::HTTP) {
        return Ok(Some(proxy));
    }
    let host = proxy.uri().host().unwrap_or_default();
    Err(Error::Unreachable(format!("the proxy {host} is not an HTTP proxy")))
}

type TlsBuilder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn tls_builder() -> Result<TlsBuilder, Error> {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|cause| Error::Tls(cause.to_string()))
}

/// The message of the root cause, because hyper's own message only names the phase.
fn root_cause_text(error: &(dyn StdError + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), root_cause_text)
}

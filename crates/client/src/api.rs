//! The client, generic over its connection.

use serde::Serialize;

use crate::call::Call;
use crate::error::Error;
use crate::request::Request;
use crate::service_endpoint::{Credentials, ServiceEndpoint};

/// A client of one service with the API key of one provider: `Client` or `AsyncClient`. Clones share their connections.
///
/// Each operation returns a [`Call`], which is sent with `send`, or a list, which is read item by item.
#[derive(Clone)]
pub struct Api<C> {
    connection: C,
    service: ServiceEndpoint,
}

impl<C> Api<C> {
    pub(crate) fn with_connection(connection: C, base: &str, credentials: &Credentials) -> Self {
        Self { connection, service: ServiceEndpoint::new(base, credentials) }
    }

    /// Sets the maximum size of a response in bytes; the default is 256 MiB. Responses are held in memory. A larger
    /// response fails with [`Error::TooLarge`], and that of a POST with [`Error::OutcomeUnknown`].
    #[must_use]
    pub fn with_response_max_bytes(mut self, response_max_bytes: u64) -> Self {
        self.service.response_max_bytes = response_max_bytes;
        self
    }

    /// The address of the service, without the version and without a trailing slash.
    pub fn base_url(&self) -> &str {
        self.service.base_url()
    }

    /// A GET request for operations that no method of this type covers. `path` is the path after the version, such as
    /// `/companies`.
    pub fn get<T>(&self, path: impl Into<String>) -> Call<'_, C, T> {
        self.new_call(Ok(Request::new("GET", path.into())))
    }

    /// A POST request with an idempotency key. `path` is the path after the version.
    pub fn post<T>(&self, path: impl Into<String>, body: &impl Serialize) -> Call<'_, C, T> {
        self.new_call(Request::new("POST", path.into()).with_body(body))
    }

    /// A POST request that changes nothing, and therefore needs no idempotency key.
    pub(crate) fn post_without_effect<T>(
        &self,
        path: impl Into<String>,
        body: &impl Serialize,
    ) -> Call<'_, C, T> {
        let request = Request { needs_key: false, ..Request::new("POST", path.into()) };
        self.new_call(request.with_body(body))
    }

    /// A PUT request. `path` is the path after the version.
    pub fn put<T>(&self, path: impl Into<String>, body: &impl Serialize) -> Call<'_, C, T> {
        self.new_call(Request::new("PUT", path.into()).with_body(body))
    }

    /// A DELETE request. `path` is the path after the version.
    pub fn delete(&self, path: impl Into<String>) -> Call<'_, C, ()> {
        self.new_call(Ok(Request::new("DELETE", path.into())))
    }

    fn new_call<T>(&self, request: Result<Request, Error>) -> Call<'_, C, T> {
        Call::new(&self.connection, &self.service, request)
    }
}

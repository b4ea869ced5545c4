//! The client, generic over its connection.

use serde::Serialize;

use crate::call::Call;
use crate::error::Error;
use crate::request::Request;
use crate::service_endpoint::{Credentials, ServiceEndpoint};

/// A client of one service with the API key of one provider: `Client` or `AsyncClient`. Clones share their connections.
///
/// Each operation returns a [`Call`], which is sent with `send`, or a list, which is an iterator.
#[derive(Clone)]
pub struct Api<C> {
    connection: C,
    service: ServiceEndpoint,
}

impl<C> Api<C> {
    pub(crate) fn with_connection(connection: C, base: &str, credentials: &Credentials) -> Self {
        Self { connection, service: ServiceEndpoint::new(base, credentials) }
    }

    /// Sets the limit in bytes on each response, which is held in memory; 256 MiB unless set. A response beyond the limit is
    /// an [`Error::TooLarge`].
    #[must_use]
    pub fn with_response_max_bytes(mut self, response_max_bytes: u64) -> Self {
        self.service.response_max_bytes = response_max_bytes;
        self
    }

    /// The address of the service without the version and without a slash at its end.
    pub fn base_url(&self) -> &str {
        self.service.base_url()
    }

    /// A GET of a path after the version, such as `/companies`, for operations that no method of this type covers.
    pub fn get<T>(&self, path: impl Into<String>) -> Call<'_, C, T> {
        self.new_call(Ok(Request::new("GET", path.into())))
    }

    /// A POST of a path after the version, under an idempotency key.
    pub fn post<T>(&self, path: impl Into<String>, body: &impl Serialize) -> Call<'_, C, T> {
        self.new_call(Request::new("POST", path.into()).with_body(body))
    }

    /// A PUT of a path after the version.
    pub fn put<T>(&self, path: impl Into<String>, body: &impl Serialize) -> Call<'_, C, T> {
        self.new_call(Request::new("PUT", path.into()).with_body(body))
    }

    /// A DELETE of a path after the version.
    pub fn delete(&self, path: impl Into<String>) -> Call<'_, C, ()> {
        self.new_call(Ok(Request::new("DELETE", path.into())))
    }

    fn new_call<T>(&self, request: Result<Request, Error>) -> Call<'_, C, T> {
        Call::new(&self.connection, &self.service, request)
    }
}

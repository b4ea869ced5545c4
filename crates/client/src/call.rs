//! Calls: operations of the API, with their arguments, that have not been sent yet.

use std::marker::PhantomData;

use crate::error::Error;
use crate::request::Request;
use crate::retries::random_uuid;
use crate::service_endpoint::ServiceEndpoint;

/// An operation that is ready to be sent. Its response is parsed as a `T`.
#[must_use = "nothing happens until it is sent"]
pub struct Call<'a, C, T> {
    pub(crate) connection: &'a C,
    pub(crate) service: &'a ServiceEndpoint,
    request: Result<Request, Error>,
    response: PhantomData<fn() -> T>,
}

impl<'a, C, T> Call<'a, C, T> {
    pub(crate) fn new(
        connection: &'a C,
        service: &'a ServiceEndpoint,
        request: Result<Request, Error>,
    ) -> Self {
        Self { connection, service, request, response: PhantomData }
    }

    /// Sets the idempotency key of a POST request (behaviour 19). If you store the key, you can repeat the call after a
    /// crash without executing it twice. By default, the client generates a key, which protects only its own retries
    /// and is lost in a crash; [`Error::OutcomeUnknown`] has it.
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        if let Ok(request) = &mut self.request {
            request.idempotency_key = Some(key.into());
        }
        self
    }

    /// Returns the request. Adds an idempotency key if the request needs one.
    pub(crate) fn into_request(self) -> Result<Request, Error> {
        let mut request = self.request?;
        if request.needs_key && request.idempotency_key.is_none() {
            request.idempotency_key = Some(random_uuid().ok_or(Error::Randomness)?.to_string());
        }
        Ok(request)
    }
}

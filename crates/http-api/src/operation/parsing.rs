//! Keeps the parsing of large bodies off the event loop, where it would delay every other request of the worker.

use std::fmt::Display;
use std::sync::Arc;

use actix_web::web;
use tokio::sync::Semaphore;

use crate::operation::error::ApiError;

/// Parsing a body of this size takes a quarter of a millisecond at most.
const PARSED_IN_PLACE_MAX_BYTES: usize = 16 << 10;

/// Runs parsers. Of those that run outside the event loop one runs at a time, so that parsing uses at most one core and the
/// memory for the keys of one body.
pub(crate) struct Parsing(Arc<Semaphore>);

impl Parsing {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }

    /// Runs `parse` on `input`, which comes with a body of `length` bytes: in place if the body is small, else on the blocking
    /// pool. Fails only if `parse` panics.
    pub(crate) async fn run<I: Clone + Send + 'static, T: Send + 'static>(
        &self,
        input: &I,
        length: usize,
        parse: impl FnOnce(&I) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if length <= PARSED_IN_PLACE_MAX_BYTES {
            return Ok(parse(input));
        }
        let input = input.clone();
        let turn = Arc::clone(&self.0).acquire_owned().await.map_err(failed)?;
        let parsed = web::block(move || {
            let _turn = turn; // also if the client goes away
            parse(&input)
        });
        parsed.await.map_err(failed)
    }
}

fn failed(cause: impl Display) -> ApiError {
    ApiError::internal(format!("parsing a body failed: {cause}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn only_large_bodies_are_parsed_on_another_thread() {
        let parsing = Parsing::new();
        let here = thread::current().id();
        for (length, is_in_place) in
            [(0, true), (PARSED_IN_PLACE_MAX_BYTES, true), (PARSED_IN_PLACE_MAX_BYTES + 1, false)]
        {
            let parsed_on = parsing.run(&(), length, |()| thread::current().id()).await;
            assert!(parsed_on.is_ok_and(|it| (it == here) == is_in_place), "{length} bytes");
        }
    }

    #[tokio::test]
    async fn large_bodies_are_parsed_one_at_a_time() {
        let (parsing, running) = (Parsing::new(), Arc::new(AtomicUsize::new(0)));
        let parses = (0..8).map(|_| {
            parsing.run(&running, 1 << 20, |running| {
                let others = running.fetch_add(1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                others
            })
        });
        for others in futures_util::future::join_all(parses).await {
            assert!(matches!(others, Ok(0)));
        }
    }
}

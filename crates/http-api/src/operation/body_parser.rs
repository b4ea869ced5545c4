//! Keeps the parsing of large bodies off the event loop, where it would delay every other request of the worker.

use std::fmt::Display;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use actix_web::web;
use guerdon_domain::ports::Deadlines;
use guerdon_domain::values::ProviderId;
use tokio::time::{Instant, timeout_at};

use crate::mutex::lock_mutex;
use crate::operation::ApiError;
use crate::operation::fair_queue::FairQueue;

/// The size of the largest body that is parsed on the event loop. Parsing it takes at most a quarter of a millisecond.
const PARSED_IN_PLACE_BYTES_MAX: usize = 16 << 10;

/// Runs parsers. On the blocking pool, only one runs at a time, so that parsing uses at most one core and the memory
/// for the keys of one body. Providers take turns.
pub(crate) struct BodyParser {
    queue: Arc<FairQueue>,
}

impl BodyParser {
    pub(crate) fn new() -> Self {
        Self { queue: FairQueue::new("parse", 1) }
    }

    /// Runs `parse` on `input`, whose body has `length` bytes: on the event loop if the body is small, otherwise on the
    /// blocking pool. Fails with 503 if `parse` does not start within the deadline, and with 500 if it panics.
    pub(crate) async fn run_parser<I: Clone + Send + 'static, T: Send + 'static>(
        &self,
        provider: ProviderId,
        input: &I,
        length: usize,
        parse: impl FnOnce(&I) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if length <= PARSED_IN_PLACE_BYTES_MAX {
            return Ok(parse(input));
        }
        let input = input.clone();
        let deadline = Instant::now() + Deadlines::START;
        let permit = self.queue.acquire_permit(provider).await?;
        // The thread takes the permit when it starts. Until then this future owns it, and releases it when it is
        // dropped.
        let unstarted = Arc::new(Mutex::new(Some(permit)));
        let starting = Arc::downgrade(&unstarted);
        let mut parsed = pin!(web::block(move || {
            let _permit = take_permit(&*starting.upgrade()?)?;
            Some(parse(&input))
        }));
        let parsed = match timeout_at(deadline, &mut parsed).await {
            Ok(parsed) => parsed,
            Err(_elapsed) if take_permit(&unstarted).is_some() => return Err(ApiError::busy()),
            Err(_elapsed) => parsed.await, // parsing has started
        };
        parsed.map_err(parsing_failed_error)?.ok_or_else(ApiError::busy)
    }
}

fn take_permit<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    lock_mutex(slot).take()
}

fn parsing_failed_error(cause: impl Display) -> ApiError {
    ApiError::internal(format!("parsing a body failed: {cause}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    const PROVIDER: ProviderId = ProviderId::from_uuid(uuid::Uuid::nil());

    #[tokio::test]
    async fn only_large_bodies_are_parsed_on_another_thread() {
        let parsing = BodyParser::new();
        let here = thread::current().id();
        for (length, is_in_place) in
            [(0, true), (PARSED_IN_PLACE_BYTES_MAX, true), (PARSED_IN_PLACE_BYTES_MAX + 1, false)]
        {
            let parsed_on = parsing.run_parser(PROVIDER, &(), length, |()| thread::current().id()).await;
            assert!(parsed_on.is_ok_and(|thread| (thread == here) == is_in_place), "{length} bytes");
        }
    }

    #[tokio::test]
    async fn large_bodies_are_parsed_one_at_a_time() {
        let (parsing, running) = (BodyParser::new(), Arc::new(AtomicUsize::new(0)));
        let parses = (0..8).map(|_| {
            parsing.run_parser(PROVIDER, &running, 1 << 20, |running| {
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
    #[test]
    fn a_large_body_that_waits_for_a_thread_delays_no_other_beyond_the_deadline() {
        let mut pool = tokio::runtime::Builder::new_current_thread();
        let pool = pool.enable_time().start_paused(true).max_blocking_threads(1).build().unwrap();
        pool.block_on(async {
            let (parsing, (release, stalled)) = (BodyParser::new(), mpsc::channel::<()>());
            let (tell, has_stalled) = tokio::sync::oneshot::channel();
            let stalling = tokio::task::spawn_blocking(move || (tell.send(()), stalled.recv()));
            has_stalled.await.unwrap();
            // While a blocking task runs, the paused clock does not advance on its own.
            let waiting = (0..2).map(|_| parsing.run_parser(PROVIDER, &(), 1 << 20, |()| ()));
            let refused = futures_util::future::join_all(waiting);
            let (refused, ()) = futures_util::future::join(refused, async {
                tokio::task::yield_now().await;
                tokio::time::advance(Deadlines::START + Duration::from_millis(1)).await;
            })
            .await;
            assert!(
                refused
                    .iter()
                    .all(|result| result.as_ref().is_err_and(|error| error.status_and_message().0 == 503))
            );
            assert!(
                parsing.queue.acquire_permit(PROVIDER).await.is_ok(),
                "released while waiting in the queue"
            );
            drop(release);
            assert!(stalling.await.is_ok());
            assert!(parsing.run_parser(PROVIDER, &(), 1 << 20, |()| ()).await.is_ok());
        });
    }
}

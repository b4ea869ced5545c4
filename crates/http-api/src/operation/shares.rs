//! Shares the capacity for requests fairly between providers (behaviour 20.4), so that the load of one does not slow down the
//! others.
//!
//! The number of requests in progress is limited. A single provider may use all places but a few, which are reserved for others.
//! When requests wait, places that become free are given to the waiting providers in turn, and a provider with its full share in
//! progress is skipped while another waits. The requests of one provider keep their order.

mod lines;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guerdon_domain::ports::Deadlines;
use guerdon_domain::values::ProviderId;
use metrics::{Gauge, gauge};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::lines::Lines;
use crate::operation::error::ApiError;

const WAITING_REQUESTS: &str = "guerdon_http_requests_waiting";

/// The places for requests of one kind.
pub(crate) struct Shares {
    kind: &'static str,
    places: usize,
    lines: Mutex<Lines>,
}

/// A place of a request in progress. Dropping it gives the place to the next request.
pub(crate) struct Turn {
    shares: Arc<Shares>,
    provider: ProviderId,
}

impl Shares {
    /// `places` must be more than two shares.
    pub(crate) fn new(kind: &'static str, places: usize) -> Arc<Self> {
        gauge!(WAITING_REQUESTS, "kind" => kind).set(0.0);
        Arc::new(Self { kind, places, lines: Mutex::default() })
    }

    /// Waits for a place. Fails with 503 after the deadline for places, or if too many requests of the provider wait already.
    pub(crate) async fn turn(self: &Arc<Self>, provider: ProviderId) -> Result<Turn, ApiError> {
        let told = {
            let mut lines = self.lock();
            if lines.can_begin(provider, self.places) {
                lines.begin(provider);
                return Ok(self.place(provider));
            }
            let (tell, told) = oneshot::channel();
            lines.wait(provider, tell)?;
            told
        };
        let _counted = Counted::new(self.kind);
        let turn = timeout(Deadlines::REQUEST.place, told).await;
        turn.ok().and_then(Result::ok).ok_or_else(busy)
    }

    /// Fails with 503 if too many requests of the provider wait already. Lets the caller refuse a request before any work.
    pub(crate) fn require_room(&self, provider: ProviderId) -> Result<(), ApiError> {
        self.lock().require_room(provider)
    }

    fn place(self: &Arc<Self>, provider: ProviderId) -> Turn {
        Turn { shares: Arc::clone(self), provider }
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one waiting request until it is dropped.
struct Counted(Gauge);

impl Counted {
    fn new(kind: &'static str) -> Self {
        let waiting = gauge!(WAITING_REQUESTS, "kind" => kind);
        waiting.increment(1);
        Self(waiting)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

fn busy() -> ApiError {
    ApiError::unavailable("the service has too many requests of this provider at work", 1)
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shares.lock().end(self.provider);
        loop {
            let next = self.shares.lock().next(self.shares.places);
            let Some((provider, first)) = next else { return };
            drop(first.send(self.shares.place(provider))); // a receiver that no longer waits drops the place, which frees it
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::lines::WAITING_MAX;
    use super::*;

    fn provider(number: u128) -> ProviderId {
        ProviderId::from_uuid(Uuid::from_u128(number))
    }

    async fn turns(shares: &Arc<Shares>, number: u128, count: usize) -> Vec<Turn> {
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(shares.turn(provider(number)).await.unwrap());
        }
        all
    }

    /// Requests a turn; the task ends when it has one.
    fn ask(shares: &Arc<Shares>, number: u128) -> tokio::task::JoinHandle<Result<Turn, ApiError>> {
        let shares = Arc::clone(shares);
        tokio::spawn(async move { shares.turn(provider(number)).await })
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_alone_leaves_a_share_for_those_who_come() {
        let shares = Shares::new("read", 24);
        let first = turns(&shares, 1, 16).await;
        assert!(shares.turn(provider(1)).await.is_err(), "it waits in vain");
        let second = turns(&shares, 2, 8).await;
        assert!(shares.turn(provider(3)).await.is_err(), "all places are taken");
        drop((first, second));
        assert!(shares.lock().each.is_empty());
        assert_eq!(shares.lock().at_work, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_free_place_goes_to_who_has_less_than_a_share() {
        let shares = Shares::new("read", 24);
        let mut first = turns(&shares, 1, 16).await;
        let second = turns(&shares, 2, 8).await;
        let greedy = ask(&shares, 1);
        tokio::task::yield_now().await;
        let third = ask(&shares, 3);
        tokio::task::yield_now().await;
        first.pop();
        let third = third.await.unwrap().unwrap();
        assert!(!greedy.is_finished(), "it came first, and has its share");
        drop((second, third));
        assert!(greedy.await.unwrap().is_ok(), "nobody else waits");
    }

    #[tokio::test(start_paused = true)]
    async fn providers_take_turns_and_each_keeps_its_order() {
        let shares = Shares::new("write", 17);
        let held = turns(&shares, 9, 9).await;
        let more = turns(&shares, 8, 8).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for (number, count) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)] {
            let (shares, order) = (Arc::clone(&shares), Arc::clone(&order));
            waiting.push(tokio::spawn(async move {
                let _turn = shares.turn(provider(number)).await.unwrap();
                order.lock().unwrap().push((number, count));
                tokio::task::yield_now().await;
            }));
            tokio::task::yield_now().await;
        }
        drop(more.into_iter().next());
        for task in waiting {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]);
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_is_bounded_and_who_has_gone_holds_nothing_up() {
        let shares = Shares::new("write", 17);
        let (held, more) = (turns(&shares, 1, 9).await, turns(&shares, 2, 8).await);
        let waiting: Vec<_> = (0..WAITING_MAX).map(|_| ask(&shares, 3)).collect();
        while shares.lock().each.get(&provider(3)).is_none_or(|line| line.waiting.len() < WAITING_MAX) {
            tokio::task::yield_now().await;
        }
        let refused = shares.turn(provider(3)).await.err().unwrap();
        assert_eq!(refused.told().0, 503);
        for gone in &waiting[..WAITING_MAX - 1] {
            gone.abort();
        }
        tokio::task::yield_now().await;
        drop(held);
        assert!(waiting.into_iter().last().unwrap().await.unwrap().is_ok());
        drop(more);
        assert_eq!(shares.lock().at_work, 0);
    }
}

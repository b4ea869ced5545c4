//! The requests in progress and the waiting requests of each provider, as plain data without threads or clocks.

use std::collections::{HashMap, VecDeque};

use guerdon_domain::values::ProviderId;
use tokio::sync::oneshot::Sender;

use super::{Turn, busy};
use crate::operation::error::ApiError;

/// The places of a provider while others wait, and the number of places that are reserved for providers without any.
const SHARE: usize = 8;
/// The most waiting requests of one provider. A refusal costs a fifth of the processor time of a response, so a client with that many
/// connections that ignores `Retry-After` costs less if it is served late than if it is refused many times.
pub(super) const WAITING_MAX: usize = 1_024;

#[derive(Default)]
pub(super) struct Lines {
    pub(super) at_work: usize,
    pub(super) each: HashMap<ProviderId, Line>,
    /// The waiting providers, in the order of their turns.
    order: VecDeque<ProviderId>,
}

#[derive(Default)]
pub(super) struct Line {
    at_work: usize,
    pub(super) waiting: VecDeque<Sender<Turn>>,
}

impl Lines {
    /// Whether a new request may start without waiting.
    pub(super) fn can_begin(&self, provider: ProviderId, places: usize) -> bool {
        let own = self.each.get(&provider).map_or(0, |line| line.at_work);
        let left = places.saturating_sub(self.at_work);
        // If a place is free, all waiting providers have their full share.
        (left > 0 && own < SHARE) || (left > SHARE && self.order.is_empty())
    }

    pub(super) fn begin(&mut self, provider: ProviderId) {
        self.at_work += 1;
        self.each.entry(provider).or_default().at_work += 1;
    }

    /// Queues a request behind the others of its provider; 503 if there are too many.
    pub(super) fn wait(&mut self, provider: ProviderId, waits: Sender<Turn>) -> Result<(), ApiError> {
        self.require_room(provider)?;
        let line = self.each.entry(provider).or_default();
        if line.waiting.is_empty() && !self.order.contains(&provider) {
            self.order.push_back(provider);
        }
        line.waiting.push_back(waits);
        Ok(())
    }

    pub(super) fn require_room(&mut self, provider: ProviderId) -> Result<(), ApiError> {
        let Some(line) = self.each.get_mut(&provider) else { return Ok(()) };
        if line.waiting.len() >= WAITING_MAX {
            line.waiting.retain(|sender| !sender.is_closed());
        }
        if line.waiting.len() >= WAITING_MAX { Err(busy()) } else { Ok(()) }
    }

    pub(super) fn end(&mut self, provider: ProviderId) {
        self.at_work -= 1;
        if let Some(line) = self.each.get_mut(&provider) {
            line.at_work -= 1;
            if line.at_work == 0 && line.waiting.is_empty() {
                self.each.remove(&provider);
            }
        }
    }

    /// The provider and the waiting request that get the next free place. The request counts as in progress from now on.
    pub(super) fn next(&mut self, places: usize) -> Option<(ProviderId, Sender<Turn>)> {
        while self.at_work < places {
            let is_alone = self.order.len() <= 1;
            let left = places - self.at_work;
            let may = |provider: &ProviderId| {
                let own = self.each.get(provider).map_or(0, |line| line.at_work);
                own < SHARE || (is_alone && left > SHARE)
            };
            let at = self.order.iter().position(may)?;
            let provider = self.order.remove(at)?;
            let Some(line) = self.each.get_mut(&provider) else { continue };
            let first = line.waiting.pop_front();
            if !line.waiting.is_empty() {
                self.order.push_back(provider);
            }
            match first {
                Some(first) if !first.is_closed() => {
                    self.begin(provider);
                    return Some((provider, first));
                }
                _ if line.waiting.is_empty() && line.at_work == 0 => drop(self.each.remove(&provider)),
                _ => {}
            }
        }
        None
    }
}

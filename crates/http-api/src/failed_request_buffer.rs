//! Collects failed requests until they are stored, so that no response waits for the database. A flood of failures must
//! neither take much memory nor hide the failures of other providers.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use guerdon_domain::ports::{FAILED_REQUESTS_PER_PROVIDER_MAX, FailedRequest};
use guerdon_domain::values::ProviderId;

use crate::log_throttle::LogThrottle;
use crate::mutex::lock_mutex;

/// The maximum number of requests with a status of 4xx that wait to be stored. The same maximum applies separately to
/// requests with 5xx.
const REQUESTS_MAX: usize = 5_000;

/// Failed requests that wait to be stored. Requests with a status of 4xx never displace requests with 5xx.
#[derive(Debug, Default)]
pub struct FailedRequestBuffer {
    buffered: Mutex<Buffered>,
    /// Limits the log lines of requests with 5xx, by status and reason.
    pub(crate) log_throttle: LogThrottle<(u16, String)>,
}

#[derive(Debug, Default)]
struct Buffered {
    client_errors: ProviderBuffers,
    server_errors: ProviderBuffers,
}

/// A queue for each provider, and one for requests without valid credentials. Each keeps its newest requests. When the
/// total is reached, the longest queue drops its oldest request.
#[derive(Debug, Default)]
struct ProviderBuffers {
    queues: HashMap<Option<ProviderId>, VecDeque<FailedRequest>>,
    length: usize,
}

impl FailedRequestBuffer {
    /// Adds a request. If too many fail, it may be dropped before it is stored.
    pub fn add_request(&self, request: FailedRequest) {
        lock_mutex(&self.buffered).queues_of(&request).push(request);
    }

    /// Takes up to `limit` requests, first those with a status of 5xx. Takes the oldest request of each provider in
    /// turn.
    pub fn take_requests(&self, limit: usize) -> Vec<FailedRequest> {
        let (mut taken, mut buffered) = (Vec::new(), lock_mutex(&self.buffered));
        buffered.server_errors.take_into(&mut taken, limit);
        buffered.client_errors.take_into(&mut taken, limit);
        taken
    }

    /// Puts back requests that could not be stored, up to the capacity.
    pub fn put_back(&self, requests: Vec<FailedRequest>) {
        let mut buffered = lock_mutex(&self.buffered);
        for request in requests.into_iter().rev() {
            buffered.queues_of(&request).put_back(request);
        }
    }
}

impl Buffered {
    fn queues_of(&mut self, request: &FailedRequest) -> &mut ProviderBuffers {
        if request.is_server_error() { &mut self.server_errors } else { &mut self.client_errors }
    }
}

impl ProviderBuffers {
    fn push(&mut self, request: FailedRequest) {
        let provider = request.provider_id;
        let queue = self.queues.entry(provider).or_default();
        queue.push_back(request);
        self.length += 1;
        if queue.len() > FAILED_REQUESTS_PER_PROVIDER_MAX {
            self.drop_oldest(provider);
        } else if self.length > REQUESTS_MAX
            && let Some((longest, _)) = self.queues.iter().max_by_key(|(_, queue)| queue.len())
        {
            self.drop_oldest(*longest);
        }
    }

    fn put_back(&mut self, request: FailedRequest) {
        let queue = self.queues.entry(request.provider_id).or_default();
        if queue.len() < FAILED_REQUESTS_PER_PROVIDER_MAX && self.length < REQUESTS_MAX {
            queue.push_front(request);
            self.length += 1;
        }
    }

    fn drop_oldest(&mut self, provider: Option<ProviderId>) {
        if self.queues.get_mut(&provider).and_then(VecDeque::pop_front).is_some() {
            self.length -= 1;
        }
    }

    fn take_into(&mut self, taken: &mut Vec<FailedRequest>, limit: usize) {
        while taken.len() < limit && self.length > 0 {
            for queue in self.queues.values_mut() {
                if taken.len() < limit
                    && let Some(request) = queue.pop_front()
                {
                    taken.push(request);
                    self.length -= 1;
                }
            }
        }
        if self.length == 0 {
            self.queues.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn failed_request(number: usize, provider: u128, status: u16) -> FailedRequest {
        FailedRequest {
            id: Uuid::from_u128(u128::try_from(number).unwrap()),
            request_id: number.to_string(),
            at: Timestamp::from_unix_micros(0).unwrap(),
            provider_id: (provider > 0).then(|| ProviderId::from_uuid(Uuid::from_u128(provider))),
            method: "GET".into(),
            route: None,
            status,
            duration_ms: 1,
            reason: "why".to_owned(),
        }
    }

    fn add(buffer: &FailedRequestBuffer, numbers: impl Iterator<Item = usize>, provider: u128, status: u16) {
        numbers.for_each(|number| buffer.add_request(failed_request(number, provider, status)));
    }

    fn take_numbers(buffer: &FailedRequestBuffer, limit: usize) -> Vec<usize> {
        buffer.take_requests(limit).into_iter().map(|request| request.request_id.parse().unwrap()).collect()
    }

    #[test]
    fn a_flood_displaces_only_itself() {
        let buffer = FailedRequestBuffer::default();
        add(&buffer, 1..=1, 0, 503);
        add(&buffer, 2..=3, 7, 404);
        add(&buffer, 10..=20_009, 0, 401);
        let taken = take_numbers(&buffer, 5);
        assert_eq!(taken[0], 1, "5xx come first");
        assert!(taken.contains(&2) && taken.contains(&3), "the providers take turns: {taken:?}");
        let rest = take_numbers(&buffer, usize::MAX);
        assert_eq!((rest.len(), rest.last()), (998, Some(&20_009)));
        assert!(take_numbers(&buffer, 1).is_empty());
    }

    #[test]
    fn the_longest_queue_drops_a_request_when_the_total_is_reached() {
        let buffer = FailedRequestBuffer::default();
        for provider in 0..5 {
            add(&buffer, 0..FAILED_REQUESTS_PER_PROVIDER_MAX, provider, 500);
        }
        add(&buffer, 0..10, 9, 500);
        let taken = buffer.take_requests(usize::MAX);
        assert_eq!(taken.len(), REQUESTS_MAX);
        let of = |number| taken.iter().filter(|request| request.provider_id == number).count();
        assert_eq!(of(Some(ProviderId::from_uuid(Uuid::from_u128(9)))), 10);
    }

    #[test]
    fn requests_that_were_put_back_come_first_and_displace_none() {
        let buffer = FailedRequestBuffer::default();
        add(&buffer, 1..=3, 0, 500);
        let taken = buffer.take_requests(2);
        add(&buffer, 4..=4, 0, 500);
        buffer.put_back(taken);
        assert_eq!(take_numbers(&buffer, usize::MAX), [1, 2, 3, 4]);
        add(&buffer, 1..=2, 0, 500);
        let taken = buffer.take_requests(2);
        add(&buffer, 3..=FAILED_REQUESTS_PER_PROVIDER_MAX + 1, 0, 500);
        buffer.put_back(taken);
        let kept = take_numbers(&buffer, usize::MAX);
        assert_eq!((kept.len(), kept[0]), (FAILED_REQUESTS_PER_PROVIDER_MAX, 2));
    }
}

//! Clients of a company that moves: each sends a request to the two cells in turn until one of them executes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use guerdon_test_harness::{HttpResponse, HttpsConnection};

use crate::campaign::load::{LoadTarget, send_request};
use crate::campaign::request_log::{Acknowledgement, LoadRequest};

pub(super) const CELL_COUNT: usize = 2;
/// The numbers of the cells.
pub(super) const SOURCE: usize = 0;
pub(super) const TARGET: usize = 1;

const CLIENTS: usize = 4;
const REQUEST_INTERVAL: Duration = Duration::from_millis(10);
/// The pause before a request is sent to the other cell.
const SWITCH_DELAY: Duration = Duration::from_millis(20);
/// After the move, a client gives up a request that it has tried for this long.
const RESULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The load on one company.
pub(super) struct MovedLoad<'a> {
    target: &'a LoadTarget<'a>,
    round: usize,
    ended: AtomicBool,
}

/// All requests of a load, with the cells that acknowledged them.
#[derive(Default)]
pub(super) struct MovedLog {
    pub(super) requests: Vec<(LoadRequest, usize)>,
    /// The first execution of each request: the cell, when the successful attempt was sent, and when its response
    /// arrived. Replayed responses are not included.
    executed: Vec<(usize, Instant, Instant)>,
    /// Responses that the move does not explain.
    pub(super) unexpected: Vec<String>,
}

impl<'a> MovedLoad<'a> {
    pub(super) fn new(target: &'a LoadTarget<'a>, round: usize) -> Self {
        Self { target, round, ended: AtomicBool::new(false) }
    }

    /// Runs all clients until `work` ends, and returns both results.
    pub(super) fn run_during<T: Send>(
        &self,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> Result<(T, MovedLog)> {
        std::thread::scope(|scope| {
            let clients: Vec<_> =
                (0..CLIENTS).map(|client| scope.spawn(move || self.run_client(client))).collect();
            let result = work();
            self.ended.store(true, Ordering::Relaxed);
            let mut all = MovedLog::default();
            for client in clients {
                let Ok(log) = client.join() else { bail!("a thread of a client panicked") };
                let MovedLog { requests, executed, unexpected } = log?;
                all.requests.extend(requests);
                all.executed.extend(executed);
                all.unexpected.extend(unexpected);
            }
            Ok((result?, all))
        })
    }

    fn run_client(&self, client: usize) -> Result<MovedLog> {
        let mut log = MovedLog::default();
        let mut connections: [Option<HttpsConnection>; CELL_COUNT] = [None, None];
        let mut cell = SOURCE;
        for number in 0.. {
            let (round, sent) = (self.round, Instant::now());
            let mut request = LoadRequest { round, client, number, sent, acknowledgement: None };
            self.send_until_executed(&mut request, &mut cell, &mut connections, &mut log)?;
            log.requests.push((request, cell));
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(REQUEST_INTERVAL.saturating_sub(sent.elapsed()));
        }
        Ok(log)
    }

    fn send_until_executed(
        &self,
        request: &mut LoadRequest,
        cell: &mut usize,
        connections: &mut [Option<HttpsConnection>; CELL_COUNT],
        log: &mut MovedLog,
    ) -> Result<()> {
        let (bytes, start) = (self.target.request_bytes(request), Instant::now());
        loop {
            let sent = Instant::now();
            match self.send_to(*cell, connections, &bytes) {
                Ok(response) if response.status == 201 => {
                    request.acknowledgement = Some(Acknowledgement::from_response(&response)?);
                    if response.header("idempotency-replayed") != Some("true") {
                        log.executed.push((*cell, sent, Instant::now()));
                    }
                    return Ok(());
                }
                // The company is closed, or is not imported yet: a target that does not know the provider refuses its
                // credentials, and limits attempts with unknown credentials.
                Ok(response) if [401, 429, 503].contains(&response.status) => {}
                Ok(response) => log.unexpected.push(format!("{}: {}", response.status, response.text())),
                Err(_broken) => {
                    if let Some(connection) = connections.get_mut(*cell) {
                        *connection = None;
                    }
                }
            }
            ensure!(
                !self.ended.load(Ordering::Relaxed) || start.elapsed() < RESULT_TIMEOUT,
                "no cell executes a request"
            );
            *cell = (*cell + 1) % CELL_COUNT;
            std::thread::sleep(SWITCH_DELAY);
        }
    }

    fn send_to(
        &self,
        cell: usize,
        connections: &mut [Option<HttpsConnection>; CELL_COUNT],
        bytes: &[u8],
    ) -> Result<HttpResponse> {
        let Some(connection) = connections.get_mut(cell) else { bail!("no cell {cell}") };
        send_request(self.target, cell, connection, bytes)
    }
}

impl MovedLog {
    /// Counts the requests that were sent to the source and executed there after the target had executed one.
    pub(super) fn count_executed_in_both(&self) -> usize {
        let of_target = self.executed.iter().filter(|(cell, ..)| *cell == TARGET);
        let Some(first) = of_target.map(|(_, _, received)| *received).min() else { return 0 };
        self.executed.iter().filter(|(cell, sent, _)| *cell == SOURCE && *sent > first).count()
    }

    /// The time between the last response of the source and the first of the target.
    pub(super) fn closed_time(&self) -> Option<Duration> {
        let received = |number: usize| {
            let of_cell = self.executed.iter().filter(move |(cell, ..)| *cell == number);
            of_cell.map(|(_, _, received)| *received)
        };
        Some(received(TARGET).min()?.saturating_duration_since(received(SOURCE).max()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_executes_a_request_after_the_target_is_noticed() {
        let start = Instant::now();
        let at = |millis: u64| start + Duration::from_millis(millis);
        let log = |executed: &[(usize, u64, u64)]| MovedLog {
            executed: executed
                .iter()
                .map(|(cell, sent, received)| (*cell, at(*sent), at(*received)))
                .collect(),
            ..MovedLog::default()
        };
        let moved = log(&[(SOURCE, 0, 5), (SOURCE, 2, 12), (TARGET, 20, 30)]);
        assert_eq!(moved.count_executed_in_both(), 0);
        assert_eq!(moved.closed_time(), Some(Duration::from_millis(18)));
        let both = log(&[(SOURCE, 0, 5), (TARGET, 20, 30), (SOURCE, 31, 40), (SOURCE, 29, 41)]);
        assert_eq!(both.count_executed_in_both(), 1);
        assert_eq!(log(&[(SOURCE, 0, 5)]).closed_time(), None);
    }
}

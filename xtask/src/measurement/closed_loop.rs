//! Sends requests over many connections, each of which waits for its response.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use guerdon_test_harness::{HttpResponse, HttpsClient, HttpsConnection};

/// Creates the bytes of a request from the numbers of its connection and of the request.
pub(crate) type RequestFactory<'a> = dyn Fn(usize, usize) -> Vec<u8> + Sync + 'a;

/// The result of a closed loop, in which each connection sends its next request after the response to the previous
/// one.
#[derive(Default)]
pub(crate) struct LoopResult {
    /// The durations of requests with the expected status.
    pub(crate) times: Vec<Duration>,
    pub(crate) elapsed: Duration,
    /// The number of responses, including those of the first tenth.
    pub(crate) responses: u32,
    /// The number of responses with another status.
    pub(crate) unexpected: usize,
    /// The first response with another status.
    pub(crate) first_unexpected: Option<HttpResponse>,
}

/// Sends requests over `connections` connections for `period`. The first tenth is not counted.
pub(crate) fn closed_loop(
    https: &HttpsClient,
    connections: usize,
    period: Duration,
    status: u16,
    request: &RequestFactory<'_>,
) -> Result<LoopResult> {
    let connected: Vec<_> = (0..connections).map(|_| https.connect()).collect::<Result<_>>()?;
    let start = Instant::now();
    let (counted_from, end) = (start + period / 10, start + period);
    let run_connection = |number: usize, mut connection: HttpsConnection| -> Result<LoopResult> {
        let mut result = LoopResult::default();
        for count in 0_usize.. {
            let bytes = request(number, count);
            let sent = Instant::now();
            if sent >= end {
                break;
            }
            let response = connection.send_request(&bytes)?;
            result.responses += 1;
            if response.status != status {
                result.unexpected += 1;
                result.first_unexpected.get_or_insert(response);
            } else if sent >= counted_from {
                result.times.push(sent.elapsed());
            }
        }
        Ok(result)
    };
    let mut total = std::thread::scope(|scope| -> Result<LoopResult> {
        let threads: Vec<_> = connected
            .into_iter()
            .enumerate()
            .map(|(number, connection)| scope.spawn(move || run_connection(number, connection)))
            .collect();
        let mut total = LoopResult::default();
        for thread in threads {
            let Ok(result) = thread.join() else { bail!("a thread of the client panicked") };
            let result = result?;
            total.times.extend(result.times);
            total.responses += result.responses;
            total.unexpected += result.unexpected;
            total.first_unexpected = total.first_unexpected.or(result.first_unexpected);
        }
        Ok(total)
    })?;
    total.elapsed = counted_from.elapsed();
    Ok(total)
}

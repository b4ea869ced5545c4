//! Opens connections continuously from one address.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use guerdon_test_harness::HttpsClient;

use super::context::{AttackContext, lower_priority};
use super::report::Measurement;
use super::victim::compare_during_attack;
use crate::measurement::percentiles::to_f64;

const CONNECTIONS_PER_SECOND: usize = 1_000;
const THREADS: usize = 32;
const CLIENT_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 4, 1);

pub(super) fn run(context: &AttackContext<'_>) -> Result<Vec<Measurement>> {
    let https = context.service.https();
    compare_during_attack(context, Duration::from_secs(2), |ended| {
        let (attempted, completed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| open_connections(https, ended, start, &attempted, &completed));
            }
        });
        let seconds = start.elapsed().as_secs_f64();
        let rate = |counter: AtomicUsize| format!("{:.0}/s", to_f64(counter.into_inner()) / seconds);
        Ok(vec![
            Measurement::without_bound("connections begun", rate(attempted)),
            Measurement::without_bound("handshakes that were admitted", rate(completed)),
        ])
    })
}

fn open_connections(
    https: &HttpsClient,
    ended: &AtomicBool,
    start: Instant,
    attempted: &AtomicUsize,
    completed: &AtomicUsize,
) {
    lower_priority();
    while !ended.load(Ordering::Relaxed) {
        let number = attempted.fetch_add(1, Ordering::Relaxed);
        let due = Duration::from_secs_f64(to_f64(number) / to_f64(CONNECTIONS_PER_SECOND));
        std::thread::sleep(due.saturating_sub(start.elapsed()));
        if https.connect_with_io_timeout(CLIENT_ADDRESS, Duration::from_millis(500)).is_ok() {
            completed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

//! Opens connections continuously from one address.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::victim::{compare, count};
use super::{Finding, Siege, stand_back};
use crate::harness::https::Https;

const A_SECOND: usize = 1_000;
const HANDS: usize = 32;
const FROM: Ipv4Addr = Ipv4Addr::new(127, 0, 4, 1);

pub(super) fn run(siege: &Siege<'_>) -> Result<Vec<Finding>> {
    let https = siege.service.https();
    compare(siege, Duration::from_secs(2), |ended| {
        let (tried, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..HANDS {
                scope.spawn(|| dial(https, ended, began, &tried, &done));
            }
        });
        let seconds = began.elapsed().as_secs_f64();
        let rate = |counter: AtomicUsize| format!("{:.0}/s", count(counter.into_inner()) / seconds);
        Ok(vec![
            Finding::told("connections begun", rate(tried)),
            Finding::told("handshakes that were let through", rate(done)),
        ])
    })
}

fn dial(https: &Https, ended: &AtomicBool, began: Instant, tried: &AtomicUsize, done: &AtomicUsize) {
    stand_back();
    while !ended.load(Ordering::Relaxed) {
        let number = tried.fetch_add(1, Ordering::Relaxed);
        let due = Duration::from_secs_f64(count(number) / count(A_SECOND));
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        let Ok(mut connection) = https.connect_from(FROM) else { continue };
        let waits = connection.patience(Duration::from_millis(500));
        if waits.and_then(|()| connection.shake_hands()).is_ok() {
            done.fetch_add(1, Ordering::Relaxed);
        }
    }
}

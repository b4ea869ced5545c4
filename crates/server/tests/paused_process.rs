//! The process does not run for a while, as during a live migration of its machine.

use std::time::Duration;

use guerdon_test_harness::Signal;

use crate::support::for_each_database;
use crate::support::service::basic_authorization;

const CONNECTIONS: usize = 32;

/// Regression test: after a pause, a timer of the HTTP parser ended connections whose next request had arrived.
#[test]
fn requests_sent_during_a_pause_are_served() {
    for_each_database(|service| {
        let authorization = basic_authorization(&service.create_provider("Sample", true));
        let request =
            format!("GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n");
        let mut connections: Vec<_> =
            (0..CONNECTIONS).map(|_| service.running.https().connect().unwrap()).collect();
        for connection in &mut connections {
            connection.expect_status(200, request.as_bytes()).unwrap();
        }
        // tidy: the connections are idle, but still have their parsers
        std::thread::sleep(Duration::from_millis(600));
        service.running.send_signal(Signal::STOP).unwrap();
        std::thread::scope(|scope| {
            for connection in &mut connections {
                scope.spawn(|| connection.expect_status(200, request.as_bytes()).unwrap());
            }
            // tidy: longer than a parser waits for the next request
            std::thread::sleep(Duration::from_millis(1_200));
            service.running.send_signal(Signal::CONT).unwrap();
        });
    });
}

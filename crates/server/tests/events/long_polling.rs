//! Requests that wait for events.

use std::time::{Duration, Instant};

use guerdon_test_harness::HttpsConnection;
use serde_json::{Value, json};

use crate::support::service::{ServiceProcess, TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database, for_each_database_with, run_on_postgres, wait_until};

const WAITING: &str = "guerdon_event_feed_requests_waiting";
/// A time shorter than the requests in these tests wait for an event.
const SOON: Duration = Duration::from_secs(8);

/// Creates a company whose users can send recognitions. Its provider has no callback URL.
fn create_sample(service: &TestService) -> SampleCompany {
    let sample = SampleCompany::create(service, 2);
    sample.fund_peer_wallets(service, 1_000);
    sample
}

fn send_recognition(service: &TestService, sample: &SampleCompany) -> Value {
    sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 1).json()["recognitions"][0]["id"]
        .clone()
}

fn feed_request(sample: &SampleCompany, query: &str) -> Vec<u8> {
    let authorization = basic_authorization(&sample.provider);
    let head = format!(
        "GET /v1/events?{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n"
    );
    head.into_bytes()
}

/// Sends requests on connections of their own, and returns when all of them wait.
fn start_waiting(process: &ServiceProcess, requests: &[Vec<u8>]) -> Vec<HttpsConnection> {
    let connector = process.https();
    let connect = |request: &Vec<u8>| {
        let mut connection = connector.connect().unwrap();
        connection.send_bytes(request).unwrap();
        connection
    };
    let connections = requests.iter().map(connect).collect();
    await_waiting(process, requests.len());
    connections
}

fn await_waiting(process: &ServiceProcess, count: usize) {
    let expected = count.to_string();
    wait_until("the requests should wait", || {
        let waiting = process.metric(WAITING)?;
        (waiting.to_string() == expected).then_some(())
    });
}

/// Reads the page that a waiting request received.
fn read_page(connection: &mut HttpsConnection) -> Value {
    let body = connection.expect_status(200, b"").unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn event_ids(page: &Value) -> Vec<Value> {
    page["events"].as_array().unwrap().iter().map(|event| event["id"].clone()).collect()
}

#[test]
fn a_request_waits_until_an_event_follows_its_cursor() {
    for_each_database(|service| {
        let sample = create_sample(service);
        let get = |query: &str| service.get(&sample.provider, &format!("/v1/events?{query}"));
        let started = Instant::now();
        assert_eq!(get("wait=1").json(), json!({"events": [], "next": "0"}));
        assert!(started.elapsed() >= Duration::from_secs(1));
        for wait in ["21", "-1", "x"] {
            assert_eq!(
                get(&format!("wait={wait}")).expect_error(400),
                "wait must be an integer from 0 to 20"
            );
        }
        let first = send_recognition(service, &sample);
        let page = get("wait=20").json();
        assert_eq!(event_ids(&page), [first], "the event exists already");
        let after = page["next"].as_str().unwrap();
        let requests = vec![feed_request(&sample, &format!("wait=20&after={after}")); 200];
        let mut waiting = start_waiting(&service.running, &requests);
        let path = format!("/v1/companies/{}/users/balances", sample.company);
        assert_eq!(
            service.get(&sample.provider, &path).status,
            200,
            "more requests wait than can read concurrently, or reserve the memory of a full page"
        );
        let started = Instant::now();
        let second = send_recognition(service, &sample);
        for connection in &mut waiting {
            assert_eq!(event_ids(&read_page(connection)), std::slice::from_ref(&second));
        }
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
        assert_eq!(service.running.metric(WAITING), Some(0.0));
    });
}

#[test]
fn an_event_of_another_process_ends_the_wait() {
    for_each_database(|service| {
        let sample = create_sample(service);
        let stranger = SampleCompany::create_in_domain(
            service,
            service.create_provider("Stranger", true),
            "stranger.example.com",
            1,
        );
        let filtered = feed_request(&sample, "wait=20&type=redemption.created");
        let requests = [feed_request(&stranger, "wait=2"), feed_request(&sample, "wait=20"), filtered];
        let mut waiting = start_waiting(&service.running, &requests);
        let started = Instant::now();
        let recognition = send_recognition(service, &sample);
        assert_eq!(event_ids(&read_page(&mut waiting[1])), [recognition]);
        assert_eq!(
            read_page(&mut waiting[0]),
            json!({"events": [], "next": "0"}),
            "the event of another provider"
        );
        await_waiting(&service.running, 1);
        sample.deposit_points(service, 10);
        let words = ["--wallet", "user_wallet", "--points", "9"];
        service.run_json_command(&[&["wallet", "override", &sample.users[0]], words.as_slice()].concat());
        service.run_json_command(&["redemption", "create", &sample.users[0], "--points", "1"]);
        let page = read_page(&mut waiting[2]);
        assert_eq!(page["events"][0]["type"], "redemption.created");
        assert_eq!(event_ids(&page).len(), 1);
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    });
}

#[test]
fn an_event_of_another_service_ends_the_wait() {
    // Only one service can use the embedded database.
    run_on_postgres(|service| {
        let sample = create_sample(service);
        let other = service.start_second_process();
        let mut waiting = start_waiting(&other, &[feed_request(&sample, "wait=20")]);
        let started = Instant::now();
        let recognition = send_recognition(service, &sample);
        assert_eq!(event_ids(&read_page(&mut waiting[0])), [recognition]);
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    });
}

#[test]
fn maintenance_and_a_stop_end_the_wait() {
    for_each_database(|service| {
        let sample = create_sample(service);
        let empty = json!({"events": [], "next": "0"});
        let request = [feed_request(&sample, "wait=20")];
        let mut waiting = start_waiting(&service.running, &request);
        let started = Instant::now();
        service.run_json_command(&["maintenance", "on"]);
        assert_eq!(read_page(&mut waiting[0]), empty);
        service.run_json_command(&["maintenance", "off"]);
        wait_until("maintenance should end", || {
            (service.get(&sample.provider, "/v1/companies").status == 200).then_some(())
        });
        let mut waiting = start_waiting(&service.running, &request);
        service.running.terminate().unwrap();
        assert_eq!(read_page(&mut waiting[0]), empty);
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        assert!(started.elapsed() < SOON * 2, "{:?}", started.elapsed());
        service.restart();
    });
}

#[test]
fn a_disconnected_client_no_longer_waits() {
    for_each_database_with(&[("GUERDON_HTTP__MAX_CONNECTIONS", "4")], |service| {
        let sample = create_sample(service);
        let started = Instant::now();
        let connections = start_waiting(
            &service.running,
            &[feed_request(&sample, "wait=20"), feed_request(&sample, "wait=19")],
        );
        drop(connections);
        await_waiting(&service.running, 0);
        let connection = service.running.https().connect().unwrap();
        let responses = connection.send_and_shut_down(&feed_request(&sample, "wait=20")).unwrap();
        assert_eq!(responses.len(), 1);
        assert_eq!(
            responses[0].text(),
            r#"{"events":[],"next":"0"}"#,
            "the client sends no more, but it can still read"
        );
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    });
}

#[test]
fn a_provider_that_is_suspended_while_it_waits_gets_no_later_event() {
    for_each_database(|service| {
        let sample = create_sample(service);
        sample.deposit_points(service, 10);
        let words = ["--wallet", "user_wallet", "--points", "9"];
        service.run_json_command(&[&["wallet", "override", &sample.users[0]], words.as_slice()].concat());
        let request = feed_request(&sample, "wait=20&type=redemption.created");
        let started = Instant::now();
        let mut waiting = start_waiting(&service.running, &[request]);
        service.run_json_command(&["provider", "set", &sample.provider.id, "--suspended", "true"]);
        // tidy: the service notices the suspension within half a second
        std::thread::sleep(Duration::from_millis(550).saturating_sub(started.elapsed()));
        service.run_json_command(&["redemption", "create", &sample.users[0], "--points", "1"]);
        waiting[0].expect_status(401, b"").unwrap();
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    });
}

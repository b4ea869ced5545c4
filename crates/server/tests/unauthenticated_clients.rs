//! What unauthenticated clients can do, and how it affects other clients (behaviour 2.8, 20.2).

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::json;

use crate::support::service::{ProviderCredentials, basic_authorization};
use crate::support::{SampleCompany, for_each_database, for_each_database_with, wait_until};

const ADDRESS_MAX: u32 = 20;

fn get_request(path: &str, authorization: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n")
}

#[test]
fn connections_per_address_are_limited_and_others_are_served() {
    let address_max = ADDRESS_MAX.to_string();
    for_each_database_with(&[("GUERDON_HTTP__MAX_CONNECTIONS_PER_ADDRESS", &address_max)], |service| {
        let authorization = basic_authorization(&SampleCompany::create(service, 0).provider);
        let address = service.running.api_url.split("://").nth(1).unwrap().to_owned();
        let idle: Vec<_> = (0..10 * ADDRESS_MAX).map(|_| TcpStream::connect(&address).unwrap()).collect();
        let connector = service.running.https();
        assert!(connector.connect().is_err(), "exceeds the limit per address");
        let mut other = connector.connect_from([127, 0, 0, 2].into()).unwrap();
        let response =
            other.send_request(get_request("/v1/companies", &authorization).as_bytes()).unwrap().to_string();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        assert_eq!(
            (
                service.running.operator_page_status("/healthz"),
                service.running.operator_page_status("/readyz")
            ),
            (200, 200)
        );
        let refused = service.running.metric(r#"guerdon_http_connections_refused_total{cause="address"}"#);
        assert!(refused.unwrap() >= f64::from(9 * ADDRESS_MAX), "{refused:?}");
        drop(idle);
        wait_until("the service should notice the closed connections", || {
            connector.connect().is_ok().then_some(())
        });
    });
}

#[test]
fn total_connections_are_limited() {
    for_each_database_with(&[("GUERDON_HTTP__MAX_CONNECTIONS", "3")], |service| {
        let connector = service.running.https();
        let connections: Vec<_> =
            (1..=3).map(|number| connector.connect_from([127, 0, 0, number].into()).unwrap()).collect();
        assert!(connector.connect_from([127, 0, 0, 4].into()).is_err());
        assert_eq!(service.running.operator_page_status("/healthz"), 200);
        drop(connections);
        wait_until("the service should notice the closed connections", || {
            connector.connect_from([127, 0, 0, 4].into()).is_ok().then_some(())
        });
    });
}

#[test]
fn a_refused_request_with_a_small_body_keeps_its_connection() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 0);
        let right = basic_authorization(&sample.provider);
        let wrong = basic_authorization(&ProviderCredentials {
            api_secret: "wrong".to_owned(),
            ..sample.provider.clone()
        });
        let connector = service.running.https();
        for (line, authorization, status) in [
            ("POST /v1/users", wrong.as_str(), 401),
            ("POST /v1/nothing", &right, 404),
            ("PATCH /v1/users", &right, 405),
            ("POST /v1/users", &right, 400),
            ("DELETE /v1/users/00000000-0000-7000-8000-000000000000", &right, 404),
            ("GET /v1/companies", &right, 200),
        ] {
            for (size, stays) in [(1, true), (64 << 10, true), ((64 << 10) + 1, false)] {
                // Only the body of this request is read.
                let stays = stays || status == 400;
                let body = "x".repeat(size);
                let request = format!(
                    "{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\nContent-Length: {size}\r\n\r\n{body}"
                );
                let mut connection = connector.connect().unwrap();
                let response = connection.send_request(request.as_bytes()).unwrap().to_string();
                assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{line} {size}: {response}");
                assert_eq!(response.contains("\r\nconnection: close"), !stays, "{line} {size}: {response}");
                let next = connection.send_request(get_request("/v1/companies", &right).as_bytes());
                assert_eq!(next.is_ok_and(|response| response.status == 200), stays, "{line} {size}");
            }
        }
        for authorization in [&wrong, &right] {
            let mut connection = connector.connect().unwrap();
            let at_once = format!(
                "POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\nContent-Length: 3\r\n\
                 Expect: 100-continue\r\n\r\nabc"
            );
            let response = connection.send_request(at_once.as_bytes()).unwrap().to_string();
            assert!(
                response.starts_with("HTTP/1.1 40") && !response.contains("connection: close"),
                "{response}"
            );
            let next =
                connection.send_request(get_request("/v1/companies", &right).as_bytes()).unwrap().to_string();
            assert!(next.starts_with("HTTP/1.1 200"), "{next}");
        }
        let chunked = format!(
            "POST /v1/users HTTP/1.1\r\nHost: localhost\r\nAuthorization: {wrong}\r\nTransfer-Encoding: chunked\r\n\r\n\
             3\r\nabc\r\n0\r\n\r\n"
        );
        let mut connection = connector.connect().unwrap();
        assert!(connection.send_request(chunked.as_bytes()).unwrap().to_string().starts_with("HTTP/1.1 401"));
        let next =
            connection.send_request(get_request("/v1/companies", &right).as_bytes()).unwrap().to_string();
        assert!(next.starts_with("HTTP/1.1 200"), "{next}");
    });
}

#[test]
fn large_responses_are_compressed_on_request() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 5);
        let path = format!("/v1/companies/{}/users/balances", sample.company);
        let authorization = basic_authorization(&sample.provider);
        let get_encoded = |path: &str, encoding: &str| {
            let headers = [("Authorization", authorization.as_str()), ("Accept-Encoding", encoding)];
            service.running.get_raw_body(path, &headers)
        };
        let (plain, none) = get_encoded(&path, "identity");
        assert!(plain.len() > 1_024 && none.is_none());
        let (gzip, encoding) = get_encoded(&path, "gzip");
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(gzip.as_slice()).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
        assert!(gzip.len() < plain.len() / 2);
        let (zstd, encoding) = get_encoded(&path, "br, zstd");
        assert_eq!((encoding.as_deref(), &zstd[..4]), (Some("zstd"), &[0x28, 0xb5, 0x2f, 0xfd][..]));
        let headers = [("Authorization", authorization.as_str()), ("Accept-Encoding", "gzip")];
        let head = service.running.send_request("HEAD", &path, &headers, None);
        let fields = ["content-encoding", "vary", "content-length"].map(|name| head.header(name));
        assert_eq!(fields, [Some("gzip"), Some("accept-encoding"), None]);
        let small = format!("/v1/companies/{}", sample.company);
        assert!(get_encoded(&small, "gzip").1.is_none(), "too small to compress");
        assert!(get_encoded("/v1/nothing", "gzip").1.is_none());
    });
}

#[test]
fn valid_credentials_work_despite_failed_logins_from_the_address() {
    for_each_database_with(&[("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "2")], |service| {
        let known = SampleCompany::create(service, 0).provider;
        let stranger = service.create_provider("stranger", false);
        let list_companies = |provider: &ProviderCredentials| service.get(provider, "/v1/companies").status;
        let guess = |key: &str| {
            list_companies(&ProviderCredentials {
                api_key: key.to_owned(),
                api_secret: "wrong".to_owned(),
                ..known.clone()
            })
        };
        assert_eq!([(); 3].map(|()| guess(&known.api_key)), [401, 401, 429]);
        assert_eq!(list_companies(&known), 200, "while others guess the secret");
        let others: Vec<u16> = (0..9).map(|number| guess(&format!("key-{number}"))).collect();
        assert_eq!(others, [401, 401, 401, 401, 401, 401, 401, 401, 429]);
        assert_eq!(list_companies(&stranger), 200, "first request of this provider");
        assert_eq!(list_companies(&known), 200, "while other logins from the address fail");
        let id = known.id.as_str();
        let rotated = service.run_json_command(&["provider", "rotate", id, "--api-secret"]);
        // A request that is admitted just before the cached provider expires gets 401 when the provider is read again.
        let until_seen =
            || (0..10_000).map(|_| list_companies(&known)).find(|status| ![200, 401].contains(status));
        assert_eq!(until_seen(), Some(429), "a revoked secret is invalid");
        assert_eq!(rotated["api_key"], json!(known.api_key));
        let refused = format!("address=127.0.0.1 api_key={}\n", known.api_key);
        wait_until("refused credentials should be logged with their key", || {
            (service.running.count_in_log(&refused) >= 2).then_some(())
        });
        wait_until("refused keys should be logged", || {
            (service.running.count_in_log("api_key=\"not a valid key\"") >= 8).then_some(())
        });
        assert_eq!(service.wait_for_log("only valid credentials are accepted"), 1, "once a minute");
    });
}

//! The service never accepts old versions of TLS or the method TRACE, and never fetches URLs that clients send.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::support::service::{TestService, basic_authorization};
use crate::support::{SampleCompany, company_body, created_id, for_each_database};

const TLS_1_0: u16 = 0x0301;
const TLS_1_1: u16 = 0x0302;
const TLS_1_2: u16 = 0x0303;
/// The first bytes of a record with a handshake message, in TLS 1.2.
const HANDSHAKE: [u8; 3] = [22, 3, 3];
/// A fatal alert, `protocol_version`.
const VERSION_REFUSED: [u8; 7] = [21, 3, 3, 0, 2, 2, 70];

/// Returns a ClientHello of a client whose latest version of TLS is `version`.
fn client_hello(version: u16) -> Vec<u8> {
    let signature_algorithms = [0, 13, 0, 6, 0, 4, 4, 3, 8, 4];
    let groups = [0, 10, 0, 4, 0, 2, 0, 29];
    let point_formats = [0, 11, 0, 2, 1, 0];
    let extensions = [&signature_algorithms[..], &groups, &point_formats].concat();
    let random = [7; 32];
    let suites = [0, 4, 0xc0, 0x2b, 0xc0, 0x2f];
    let with_length = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let body =
        [&version.to_be_bytes()[..], &random, &[0], &suites, &[1, 0], &with_length(&extensions)].concat();
    let message = [&[1, 0][..], &with_length(&body)].concat();
    [&[22, 3, 1][..], &with_length(&message)].concat()
}

fn send_client_hello(service: &TestService, version: u16) -> [u8; 7] {
    let address = service.running.api_url.split("://").nth(1).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    stream.write_all(&client_hello(version)).unwrap();
    let mut start = [0; 7];
    stream.read_exact(&mut start).unwrap();
    start
}

#[test]
fn tls_before_1_2_is_refused() {
    for_each_database(|service| {
        assert!(send_client_hello(service, TLS_1_2).starts_with(&HANDSHAKE));
        assert_eq!(send_client_hello(service, TLS_1_1), VERSION_REFUSED);
        assert_eq!(send_client_hello(service, TLS_1_0), VERSION_REFUSED);
    });
}

#[test]
fn trace_is_refused_and_reflects_nothing() {
    for_each_database(|service| {
        let authorization = basic_authorization(&service.create_provider("Acme", true));
        let headers = [("Authorization", authorization.as_str()), ("X-Reflected", "reflected")];
        let response = service.running.send_request("TRACE", "/v1/companies", &headers, None);
        response.expect_error(405);
        assert!(!response.body.contains("reflected"), "{}", response.body);
    });
}

#[test]
fn urls_of_companies_are_never_requested() {
    for_each_database(|service| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/logo.png", listener.local_addr().unwrap());
        let sample = SampleCompany::create(service, 0);
        let mut body = company_body("logo.example.com");
        body["logo_url"] = json!(url);
        let company = created_id(service.post(&sample.provider, "/v1/companies", &body));
        let path = format!("/v1/companies/{company}");
        assert_eq!(service.put(&sample.provider, &path, &json!({"logo_url": url})).status, 200);
        let settings = json!({"idp_id": "urn:example:idp", "idp_url": url});
        assert_eq!(service.put(&sample.provider, &format!("{path}/saml"), &settings).status, 200);
        assert_eq!(service.get(&sample.provider, &path).status, 200);
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

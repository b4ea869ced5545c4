//! Every cause that the dispatcher records has a fitting explanation.

use time::macros::datetime;

use super::diagnose_attempt;
use crate::model::{Attempt, AttemptResult, Provider};

fn sample_provider(callback_origin: Option<&str>) -> Provider {
    Provider {
        id: "P".to_owned(),
        name: "Acme".to_owned(),
        callback_origin: callback_origin.map(str::to_owned),
        is_designated: true,
        is_suspended: false,
    }
}

fn sample_attempt(status: Option<u16>, cause: Option<&str>) -> Attempt {
    Attempt {
        number: 1,
        started_at: datetime!(2026-11-20 14:00 UTC),
        result: AttemptResult { status, cause: cause.map(str::to_owned) },
        response_headers: String::new(),
        response_body: String::new(),
        duration: 1_000,
        next_wait: None,
    }
}

fn diagnose_result(status: Option<u16>, cause: Option<&str>) -> Option<String> {
    diagnose_attempt(&sample_attempt(status, cause), &sample_provider(Some("https://acme.example")))
}

#[test]
fn status_is_explained() {
    let check = |status: u16, expected: &str| {
        let cause = format!("returned status {status}");
        let diagnosis = diagnose_result(Some(status), Some(&cause)).unwrap();
        assert!(diagnosis.contains(expected), "{status}: {diagnosis}");
    };
    for status in [201, 202, 204] {
        check(status, "Only status 200 confirms");
    }
    for status in [301, 302, 307, 308] {
        check(status, "not followed");
        check(status, "guerdon provider set P --callback-url URL");
    }
    for status in [401, 403] {
        check(status, "guerdon webhook verify --url URL");
    }
    check(404, "the path does not exist");
    check(405, "does not accept POST");
    check(410, "removed");
    check(408, "timed out");
    check(400, "rejects the event");
    check(413, "a body of that size");
    check(429, "limits the request rate");
    check(500, "failed while it processed");
    check(503, "a proxy in front of it");
    assert_eq!(diagnose_result(Some(200), None), None);
    assert_eq!(diagnose_result(Some(418), Some("returned status 418")), None);
}

#[test]
fn a_missing_response_is_explained() {
    let check = |cause: &str, expected: &str| {
        let diagnosis = diagnose_result(None, Some(cause)).unwrap();
        assert!(diagnosis.contains(expected), "{cause}: {diagnosis}");
    };
    check("no response in time", "after 15 seconds");
    check("no connection in time", "firewall");
    check("no connection", "whether the receiver is running");
    check("connection refused", "nothing listens");
    check("connection reset", "then closed");
    check("connection closed without a response", "then closed");
    check("the host name is unknown", "no address in DNS");
    check("the host name was not resolved in time", "name server");
    check("the response is not HTTP", "scheme and port");
    check("the response headers are too long", "empty response");
    check("the response is too large", "empty response");
    check("refused: the host has an address that is not public", "webhooks.allow_private_networks");
    check(
        "callback_url must be a public address (webhooks.allow_private_networks allows others)",
        "public addresses",
    );
    check("callback_url must be https (webhooks.allow_http allows plain http)", "only over https");
    check("callback_url must have no fragment", "cannot be used");
    check(
        "the shared secret cannot be decrypted with this master key",
        "guerdon provider rotate P --shared-secret",
    );
    check("an error in this service", "log of `serve`");
    check("host unreachable", "routes");
    assert_eq!(diagnose_result(None, Some("the request failed")), None);
    assert_eq!(diagnose_result(None, None), None);
}

#[test]
fn a_failed_handshake_is_explained() {
    let check = |fault: &str, expected: &str| {
        let diagnosis = diagnose_result(None, Some(&format!("TLS: {fault}"))).unwrap();
        assert!(diagnosis.contains(expected), "{fault}: {diagnosis}");
    };
    check("invalid peer certificate: UnknownIssuer", "whole chain");
    check("invalid peer certificate: certificate expired: verification time 1 (UNIX)", "renew");
    check("invalid peer certificate: certificate not valid for name \"a.example\"", "another host name");
    check("invalid peer certificate: certificate not valid yet: verification time 1 (UNIX)", "clock");
    check("invalid peer certificate: Revoked", "revoked");
    check("received fatal alert: HandshakeFailure", "TLS 1.2 or 1.3");
    check("received corrupt message of type InvalidContentType", "does not speak TLS");
    check("received fatal alert: CertificateRequired", "client certificate");
    check("something new", "openssl s_client");
}

#[test]
fn missing_callback_url_is_reported_first() {
    let diagnosis =
        diagnose_attempt(&sample_attempt(None, Some("no response in time")), &sample_provider(None)).unwrap();
    assert!(
        diagnosis.contains("no callback URL")
            && diagnosis.contains("event replay --provider P --state unaddressed"),
        "{diagnosis}"
    );
}

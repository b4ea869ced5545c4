//! Callers without valid credentials: 401 with the same response for every cause, and no effect.

use base64::Engine as _;

use super::{list_requests, send_request};
use crate::support::fixture_templates::for_each_fixture_with;
use crate::support::provider_fixture::ProviderFixture;
use crate::support::service::{ProviderCredentials, TestService, basic_authorization};

/// Disables the limit on failed logins, which these tests would exceed.
const UNLIMITED: [(&str, &str); 1] = [("GUERDON_RATE_LIMIT__FAILED_LOGINS_PER_MINUTE", "0")];

/// Missing and invalid credentials of every kind.
fn invalid_credentials(service: &TestService, owner: &ProviderCredentials) -> Vec<Option<String>> {
    let suspended = service.create_provider("Suspended", true);
    service.run_json_command(&["provider", "set", &suspended.id, "--suspended", "true"]);
    let encode = |text: &[u8]| base64::engine::general_purpose::STANDARD.encode(text);
    let of =
        |key: &str, secret: &str| Some(format!("Basic {}", encode(format!("{key}:{secret}").as_bytes())));
    let (key, secret) = (owner.api_key.as_str(), owner.api_secret.as_str());
    let good = basic_authorization(owner);
    let mut last_letter_wrong = secret.to_owned();
    let last = last_letter_wrong.pop().unwrap();
    last_letter_wrong.push(if last == 'a' { 'b' } else { 'a' });
    vec![
        None,
        Some(basic_authorization(&suspended)),
        of(key, &last_letter_wrong),
        of(key, &secret[1..]),
        of(key, &format!("{secret}x")),
        of(key, ""),
        of(key, &suspended.api_secret),
        of(&format!("{key}x"), secret),
        of("", secret),
        of("", ""),
        of(&key.to_uppercase(), &secret.to_uppercase()),
        of(secret, key),
        of(&format!("{key}\0"), secret),
        Some(format!("Basic {}", encode(key.as_bytes()))),
        Some(format!("Basic {}", encode(&[0xff, b':', 0xfe]))),
        Some(good.replace("Basic ", "Bearer ")),
        Some(good.replace("Basic ", "Digest ")),
        Some(good.replace("Basic ", "")),
        Some("Basic".to_owned()),
        Some("Basic ".to_owned()),
        Some("Basic !!!".to_owned()),
        Some(format!("Basic {key}:{secret}")),
        Some(String::new()),
        Some(format!("{good}, {good}")),
    ]
}

#[test]
fn callers_without_valid_credentials_are_refused() {
    for_each_fixture_with(&UNLIMITED, |service, fixture| {
        check_refusal_on_every_route(service, fixture);
        check_credentials_come_first(service, fixture);
        check_scheme_case(service, fixture);
    });
}

/// Checks that invalid credentials are refused on every route.
fn check_refusal_on_every_route(service: &TestService, fixture: &ProviderFixture) {
    let credentials = invalid_credentials(service, fixture.provider());
    let before = fixture.take_snapshot(service);
    let mut bodies = std::collections::BTreeSet::new();
    for bad in credentials {
        for row in list_requests(fixture) {
            let body = row.body.as_ref().map(ToString::to_string);
            let response = send_request(service, bad.as_deref(), row.method, &row.path, body.as_deref());
            assert_eq!(response.status, 401, "{bad:?} {} {}: {}", row.method, row.path, response.body);
            let challenge = response.header("www-authenticate");
            assert_eq!(challenge, Some("Basic realm=\"guerdon\", charset=\"UTF-8\""), "{}", row.path);
            response.expect_error(401);
            bodies.insert(response.body);
        }
    }
    assert_eq!(bodies.len(), 1, "all causes have the same body: {bodies:?}");
    assert_eq!(fixture.take_snapshot(service), before);
}

/// Checks that credentials are checked before anything else.
fn check_credentials_come_first(service: &TestService, fixture: &ProviderFixture) {
    let check = |method: &str, path: &str, body: Option<&str>| {
        assert_eq!(send_request(service, None, method, path, body).status, 401, "{method} {path}");
    };
    check("GET", "/v1/nowhere", None);
    check("GET", "/v1/", None);
    check("PATCH", &format!("/v1/companies/{}", fixture.sample.company), None);
    check("GET", "/v1/companies/no-id", None);
    check("GET", "/v1/companies?page=x", None);
    check("POST", "/v1/users", Some("{"));
    check("POST", "/v1/users", Some("{\"a\":1,\"a\":1}"));
    check("HEAD", &format!("/v1/users/{}", fixture.owner), None);
}

/// Checks that the authorization scheme is case-insensitive.
fn check_scheme_case(service: &TestService, fixture: &ProviderFixture) {
    for scheme in ["Basic", "basic", "BASIC"] {
        let authorization = basic_authorization(fixture.provider()).replace("Basic", scheme);
        assert_eq!(
            send_request(service, Some(&authorization), "GET", "/v1/companies", None).status,
            200,
            "{scheme}"
        );
    }
}

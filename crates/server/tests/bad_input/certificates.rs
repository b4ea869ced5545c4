//! SAML certificates: a request must contain exactly one certificate, in PEM, without a private key. Responses never
//! contain the certificate (behaviour 18.5).

use serde_json::{Value, json};

use super::{InputFixture, for_each_input_fixture, reports_field};
use crate::support::provider_fixture::CERTIFICATE;
use crate::support::service::ApiResponse;

const WEAK_CERTIFICATE: &str = include_str!("../support/certificates/rsa_512_sha1.pem");

fn saml_path(fixture: &InputFixture<'_>) -> String {
    format!("/v1/companies/{}/saml", fixture.sample.company)
}

/// Sends a certificate. The response must not contain any part of it.
fn put_certificate(fixture: &InputFixture<'_>, certificate: &str) -> ApiResponse {
    let response = fixture.put(&saml_path(fixture), &json!({"idp_certificate": certificate}));
    let response_text = format!("{} {:?}", response.body, response.headers);
    assert!(!response_text.contains("-----"), "{response_text}");
    for line in certificate.lines().filter(|line| line.len() > 20) {
        assert!(!response_text.contains(line), "{response_text}");
    }
    response
}

/// A new certificate and its key, in PEM.
fn generate_certificate() -> (String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(["idp.example.com".to_owned()]).unwrap().self_signed(&key).unwrap();
    (certificate.pem(), key.serialize_pem())
}

/// A certificate with modified bytes, in PEM.
fn altered_certificate(change: impl FnOnce(&mut Vec<u8>)) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let inside: String = CERTIFICATE.lines().filter(|line| !line.starts_with("-----")).collect();
    let mut bytes = STANDARD.decode(inside).unwrap();
    change(&mut bytes);
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|chunk| std::str::from_utf8(chunk).unwrap()).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

#[test]
fn a_value_that_is_not_one_certificate_is_400() {
    for_each_input_fixture(|fixture| {
        let (good, key) = generate_certificate();
        let labelled = |label: &str| good.replace("CERTIFICATE", label);
        let middle = good.len() / 2;
        let padded = |length: usize| format!("{good}{}", "\n".repeat(length - good.len()));
        let bad = [
            "x".to_owned(),
            good.lines().nth(1).unwrap().to_owned(),
            good.lines().filter(|line| !line.starts_with("-----")).collect::<Vec<_>>().join("\n"),
            format!("{good}{good}"),
            format!("{good}{CERTIFICATE}"),
            format!("{good}{key}"),
            format!("{key}{good}"),
            key.clone(),
            key.replace("PRIVATE KEY", "CERTIFICATE"),
            labelled("PRIVATE KEY"),
            labelled("CERTIFICATE REQUEST"),
            labelled("PUBLIC KEY"),
            labelled("certificate"),
            good.replace("-----END CERTIFICATE-----", ""),
            good.replace("-----BEGIN CERTIFICATE-----", ""),
            good.replace("-----END CERTIFICATE-----", "-----END PRIVATE KEY-----"),
            good[..middle].to_owned(),
            format!("{}*{}", &good[..middle], &good[middle..]),
            format!("{}\0{}", &good[..middle], &good[middle..]),
            altered_certificate(|bytes| bytes.truncate(bytes.len() - 1)),
            altered_certificate(|bytes| bytes.truncate(100)),
            altered_certificate(|bytes| bytes.push(0)),
            altered_certificate(|bytes| bytes.extend_from_slice(&bytes.clone())),
            altered_certificate(|bytes| bytes.clear()),
            altered_certificate(|bytes| bytes[0] = 0x31),
            altered_certificate(|bytes| bytes[2] = 0xff),
            altered_certificate(|bytes| {
                bytes.splice(..0, [0x30, 0x84, 0xff, 0xff, 0xff, 0xff]).for_each(drop)
            }),
            altered_certificate(|bytes| *bytes = [0x30, 0x80].repeat(10_000)),
            padded((64 << 10) + 1),
            format!("{good}{}", "x".repeat(64 << 10)),
            "x".repeat(1_000_000),
        ];
        fixture.assert_nothing_changes(|| {
            for (at, certificate) in bad.iter().enumerate() {
                let response = put_certificate(fixture, certificate);
                assert_eq!(response.status, 400, "{at} {certificate:.200}: {}", response.body);
                let message = response.expect_error(400);
                assert!(
                    reports_field(&message, "idp_certificate") && message.len() < 300,
                    "{certificate:.200}: {message}"
                );
            }
        });
    });
}

#[test]
fn old_and_weak_certificates_are_accepted_and_never_returned() {
    for_each_input_fixture(|fixture| {
        let (good, _) = generate_certificate();
        let windows = good.replace('\n', "\r\n");
        let bare = good.trim_end().to_owned();
        for certificate in [good.as_str(), &windows, &bare, CERTIFICATE, WEAK_CERTIFICATE] {
            let response = put_certificate(fixture, certificate);
            assert_eq!(response.status, 200, "{certificate}: {}", response.body);
            let fields: Vec<String> = response.json().as_object().unwrap().keys().cloned().collect();
            let mut expected = ["idp_id", "idp_url", "sp_id", "active"];
            expected.sort_unstable();
            let mut fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            fields.sort_unstable();
            assert_eq!(fields, expected);
            let shown = fixture.get(&saml_path(fixture));
            assert!(!shown.body.contains("-----") && !shown.body.contains("certificate"), "{}", shown.body);
        }
    });
}

#[test]
fn active_settings_must_be_complete() {
    for_each_input_fixture(|fixture| {
        let path = saml_path(fixture);
        let unset = json!({"idp_id": null, "idp_url": null, "idp_certificate": null});
        assert_eq!(fixture.put(&path, &unset).status, 200);
        let whole = [
            ("idp_id", json!("urn:idp")),
            ("idp_url", json!("https://idp.example.com/sso")),
            ("idp_certificate", json!(CERTIFICATE)),
        ];
        let with = |active: Value, left_out: &str| {
            let mut body = json!({"active": active});
            for (name, value) in whole.iter().filter(|(name, _)| *name != left_out) {
                body[*name] = value.clone();
            }
            body
        };
        fixture.assert_nothing_changes(|| {
            fixture.put(&path, &json!({"active": true})).expect_error(400);
            for (name, _) in &whole {
                let message = fixture.put(&path, &with(json!(true), name)).expect_error(400);
                assert!(message.contains(name) || message.contains("active"), "{message}");
            }
        });
        assert_eq!(fixture.put(&path, &with(json!(true), "")).json()["active"], true);
        fixture.assert_nothing_changes(|| {
            for (name, _) in &whole {
                for blank in [Value::Null, json!("")] {
                    fixture.put(&path, &json!({*name: blank})).expect_error(400);
                    fixture.put(&path, &json!({*name: blank, "active": true})).expect_error(400);
                }
            }
            assert_eq!(fixture.put(&path, &json!({"idp_id": "urn:idp"})).json()["active"], true);
        });
        let off = fixture.put(&path, &json!({"active": false, "idp_url": null}));
        assert_eq!(
            (off.status, &off.json()["active"], &off.json()["idp_url"]),
            (200, &json!(false), &Value::Null)
        );
        fixture.assert_nothing_changes(|| {
            fixture.put(&path, &json!({"active": true})).expect_error(400);
        });
    });
}

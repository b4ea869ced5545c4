//! A company's single sign-on.

use serde_json::{Value, json};

use super::{Walk, replace_part};

const PATH: &str = "/v1/companies/@2/saml";

pub fn check_saml(walk: &mut Walk<'_>) {
    walk.get(PATH);
    walk.put(PATH, "{}");
    refuse_incomplete(walk);
    walk.put(PATH, r#"{"idp_id":"urn:example:idp","idp_url":"https://idp.example.com/sso"}"#);
    refuse_incomplete(walk);
    refuse_invalid_certificates(walk);
    let certificate = rcgen::generate_simple_self_signed(["idp.example.com".to_owned()]).unwrap().cert.pem();
    walk.put(PATH, &json!({"idp_certificate": certificate}).to_string());
    walk.put(PATH, r#"{"active":true}"#);
    walk.get(PATH);
    walk.put(PATH, r#"{"idp_url":"https://idp.example.com/sso"}"#);
    let response = walk.put(PATH, &walk.read_json(PATH).to_string());
    assert_eq!(response.header("x-ignored-fields"), Some("sp_id"));
    for field in ["idp_id", "idp_url", "idp_certificate"] {
        let message =
            walk.send_request("PUT", PATH, Some(&json!({ field: null }).to_string())).expect_error(400);
        assert!(message.contains(field), "active settings require this field: {message}");
    }
    walk.get(PATH);
    let cleared = r#"{"active":false,"idp_id":null,"idp_url":null,"idp_certificate":null}"#;
    walk.put(PATH, cleared);
    refuse_incomplete(walk);
    walk.put(PATH, &complete_settings(&certificate).to_string());
    walk.get("/v1/companies/@8/saml");
}

fn complete_settings(certificate: &str) -> Value {
    json!({
        "idp_id": "urn:example:idp", "idp_url": "https://idp.example.com/sso", "idp_certificate": certificate,
        "active": true,
    })
}

fn refuse_incomplete(walk: &Walk<'_>) {
    let before = walk.read_json(PATH);
    let message = walk.send_request("PUT", PATH, Some(r#"{"active":true}"#)).expect_error(400);
    assert!(message.contains("idp_certificate"), "{message}");
    assert_eq!(walk.read_json(PATH), before);
}

/// Asserts that values other than exactly one certificate are refused.
fn refuse_invalid_certificates(walk: &Walk<'_>) {
    let generated = rcgen::generate_simple_self_signed(["idp.example.com".to_owned()]).unwrap();
    let (certificate, key) = (generated.cert.pem(), generated.signing_key.serialize_pem());
    let bad = [
        "x".to_owned(),
        key.clone(),
        format!("{certificate}{certificate}"),
        format!("{certificate}{key}"),
        replace_part(&certificate, "CERTIFICATE", "TRUSTED CERTIFICATE"),
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned(),
        format!("{certificate}{}", "\n".repeat(64 << 10)),
    ];
    for text in bad {
        let message =
            walk.send_request("PUT", PATH, Some(&complete_settings(&text).to_string())).expect_error(400);
        assert!(message.starts_with("idp_certificate"), "{message}");
        assert!(!message.contains("BEGIN"), "{message}");
    }
    let mut body = complete_settings(&certificate);
    body["idp_url"] = json!("javascript:alert(1)");
    body["active"] = json!("true");
    let message = walk.send_request("PUT", PATH, Some(&body.to_string())).expect_error(400);
    for field in ["idp_url", "active"] {
        assert!(message.split("; ").any(|part| part.starts_with(field)), "{message}");
    }
}

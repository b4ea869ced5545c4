//! A company's single sign-on.

use serde_json::{Value, json};

use super::{Walk, with};

const PATH: &str = "/v1/companies/@2/saml";
const UNSET: &str = r#"{"idp_id":null,"idp_url":null,"sp_id":"https://localhost:8443/saml/example.com",
    "active":false}"#;
const SET: &str = r#"{"idp_id":"urn:example:idp","idp_url":"https://idp.example.com/sso",
    "sp_id":"https://localhost:8443/saml/example.com","active":false}"#;

pub fn run(walk: &mut Walk<'_>) {
    walk.get(PATH, UNSET);
    walk.put(PATH, "{}", UNSET);
    incomplete(walk);
    walk.put(PATH, r#"{"idp_id":"urn:example:idp","idp_url":"https://idp.example.com/sso"}"#, SET);
    incomplete(walk);
    certificates(walk);
    let certificate = rcgen::generate_simple_self_signed(["idp.example.com".to_owned()]).unwrap().cert.pem();
    walk.put(PATH, &json!({"idp_certificate": certificate}).to_string(), SET);
    let active = with(SET, r#""active":false"#, r#""active":true"#);
    walk.put(PATH, r#"{"active":true}"#, &active);
    walk.get(PATH, &active);
    walk.put(PATH, r#"{"idp_url":"https://idp.example.com/sso"}"#, &active);
    let answer = walk.put(PATH, &walk.read(PATH).to_string(), &active);
    assert_eq!(answer.header("x-ignored-fields"), Some("sp_id"));
    for field in ["idp_id", "idp_url", "idp_certificate"] {
        let told = walk.send("PUT", PATH, Some(&json!({ field: null }).to_string())).error(400);
        assert!(told.contains(field), "active settings require it: {told}");
    }
    walk.get(PATH, &active);
    let cleared = r#"{"active":false,"idp_id":null,"idp_url":null,"idp_certificate":null}"#;
    walk.put(PATH, cleared, UNSET);
    incomplete(walk);
    walk.put(PATH, &all(&certificate).to_string(), &active);
    let elsewhere = with(UNSET, "example.com", "plain.example.org");
    walk.get("/v1/companies/@8/saml", &elsewhere);
}

fn all(certificate: &str) -> Value {
    json!({
        "idp_id": "urn:example:idp", "idp_url": "https://idp.example.com/sso", "idp_certificate": certificate,
        "active": true,
    })
}

fn incomplete(walk: &Walk<'_>) {
    let before = walk.read(PATH);
    let told = walk.send("PUT", PATH, Some(r#"{"active":true}"#)).error(400);
    assert!(told.contains("idp_certificate"), "{told}");
    assert_eq!(walk.read(PATH), before);
}

/// Values that are not exactly one certificate.
fn certificates(walk: &Walk<'_>) {
    let made = rcgen::generate_simple_self_signed(["idp.example.com".to_owned()]).unwrap();
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let bad = [
        "x".to_owned(),
        key.clone(),
        format!("{certificate}{certificate}"),
        format!("{certificate}{key}"),
        with(&certificate, "CERTIFICATE", "TRUSTED CERTIFICATE"),
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_owned(),
        format!("{certificate}{}", "\n".repeat(64 << 10)),
    ];
    for text in bad {
        let told = walk.send("PUT", PATH, Some(&all(&text).to_string())).error(400);
        assert!(told.starts_with("idp_certificate"), "{told}");
        assert!(!told.contains("BEGIN"), "{told}");
    }
    let mut body = all(&certificate);
    body["idp_url"] = json!("javascript:alert(1)");
    body["active"] = json!("true");
    let told = walk.send("PUT", PATH, Some(&body.to_string())).error(400);
    for field in ["idp_url", "active"] {
        assert!(told.split("; ").any(|part| part.starts_with(field)), "{told}");
    }
}

//! Each expected signature is the output of
//!
//!     printf '%s.%s.' ID TIMESTAMP | cat - BODY_FILE |
//!         openssl dgst -sha256 -mac HMAC -macopt hexkey:KEY -binary | base64

use super::standard_signature;

const SECRET: &[u8] = b"gw_0123456789abcdef";
const EVENT_ID: &str = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
const TIMESTAMP_SECONDS: i64 = 1_795_204_862;
const BODY: &[u8] = br#"{"type":"redemption.created","version":"1.0","data":{"points":50}}"#;

#[test]
fn signatures_equal_those_of_openssl() {
    let check = |secret: &[u8], event_id: &str, timestamp_seconds, body: &[u8], expected: &str| {
        let signature = standard_signature(secret, event_id, timestamp_seconds, body);
        assert_eq!(signature, format!("v1,{expected}"));
    };
    let check_body = |body, expected| check(SECRET, EVENT_ID, TIMESTAMP_SECONDS, body, expected);
    check_body(BODY, "scUnoLyLHBC4hT6JgWcqy1W33YNrWUs0EbX1UmFWdMw=");
    check_body(b"", "eacnpiAsBeFIM1ubpFk9fVqVI1MfU4hgk977fH34TrQ=");
    check_body(
        "{\"message\":\"Спасибо 🎉 ça va\"}".as_bytes(),
        "N4VMkB2dLs5eUt9st2YNzrkkHyhfpwB77qKYdNgl1hY=",
    );
    check_body(b"\n\xff\0", "S3J9uon3K7rdIPBq/QllIuJd9DHuxlaofKbGT+gOOVw=");
    check(SECRET, EVENT_ID, 0, BODY, "VdFrcfpyF3m8JXNogarJS6vQi9rONfV04gpS/J/j91k=");
    let check_secret = |secret, expected| check(secret, "an-id", TIMESTAMP_SECONDS, BODY, expected);
    check_secret("ключ".as_bytes(), "IBqXjprxB59y3Im/+ClhF5fpzp6gZlk58VJwHp2uqWo=");
    check_secret(&[b'k'; 65], "ifRaarzRfh3CPYxCSBbW71nKCwuitbL/ZIkYEdWIJp0=");
}

/// The example that many Standard Webhooks libraries test themselves with; its secret is
/// `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
#[test]
fn the_example_of_the_libraries_has_its_signature() {
    let secret = data_encoding::BASE64.decode(b"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let signature =
        standard_signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
    assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

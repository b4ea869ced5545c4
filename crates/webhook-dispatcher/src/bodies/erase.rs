//! Removes a person's name and address from a rendered body (behaviour 13.5).

use guerdon_domain::ports::RenderError;
use guerdon_domain::values::{EmailAddress, UserId};
use serde_json::Value;

/// The roles a person can have in an event.
const ROLES: [&str; 3] = ["sender", "receiver", "user"];

/// Replaces the values in the text, so the order of the keys does not change. A quoted key cannot occur inside a
/// string, because its quotes would be escaped.
pub(super) fn erase_person(body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, RenderError> {
    let unrenderable = |cause: &dyn ToString| RenderError(cause.to_string());
    let mut text = std::str::from_utf8(body).map_err(|error| unrenderable(&error))?.to_owned();
    let whole: Value = serde_json::from_str(&text).map_err(|error| unrenderable(&error))?;
    let data = |key: &str| whole.get("data").and_then(|data| data.get(key));
    let user = user.to_string();
    for role in ROLES.iter().filter(|role| data(&format!("{role}_id")).and_then(Value::as_str) == Some(&user))
    {
        for (key, replacement) in
            [(format!("{role}_name"), "erased"), (format!("{role}_email"), email.as_str())]
        {
            if let Some(old @ Value::String(_)) = data(&key) {
                let now = Value::from(replacement);
                text = text.replacen(&format!("\"{key}\":{old}"), &format!("\"{key}\":{now}"), 1);
            }
        }
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn name_and_address_are_erased_in_each_role_and_nothing_else() {
        let (ann, bob) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let nobody = EmailAddress::parse("nobody@erased.invalid").unwrap();
        let body = |name: &str, email: &str| {
            format!(
                r#"{{"type":"recognition.received","data":{{"sender_id":"{ann}","sender_name":{name},"sender_email":"{email}","receiver_id":"{bob}","receiver_name":"Bob","message":"\"sender_name\":\"A\""}}}}"#
            )
        };
        let before = body(r#""A \"x\"""#, "ann@example.com");
        let check = |user: Uuid, expected: &str| {
            let erased = erase_person(before.as_bytes(), UserId::from_uuid(user), &nobody).unwrap();
            assert_eq!(String::from_utf8(erased).unwrap(), expected);
        };
        check(ann, &body(r#""erased""#, "nobody@erased.invalid"));
        check(bob, &before.replace(r#""Bob""#, r#""erased""#));
        check(Uuid::from_u128(3), &before);
        assert!(erase_person(b"no json", UserId::from_uuid(ann), &nobody).is_err());
    }
}

//! Formats an event's body for display: indented, fields in order, without personal data.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The fields whose strings are shown. Names, addresses, messages and fields that are not listed here are hidden.
const VISIBLE_FIELDS: [&str; 14] = [
    "company_id",
    "created_at",
    "cumulative_points_spent",
    "id",
    "occasion_id",
    "occasion_name",
    "points",
    "receiver_id",
    "sender_id",
    "sender_type",
    "share",
    "type",
    "user_id",
    "version",
];

/// Returns the role and the id of each user that the body names.
pub(crate) fn named_users(body: &str) -> Vec<(&'static str, String)> {
    #[derive(serde::Deserialize)]
    struct Body {
        data: Users,
    }
    #[derive(serde::Deserialize)]
    struct Users {
        sender_type: Option<String>,
        sender_id: Option<String>,
        receiver_id: Option<String>,
        user_id: Option<String>,
    }
    let Ok(Body { data }) = serde_json::from_str(body) else { return Vec::new() };
    let sender = data.sender_id.filter(|_| data.sender_type.as_deref() == Some("user"));
    let roles = [("Sender", sender), ("Receiver", data.receiver_id), ("User", data.user_id)];
    roles.into_iter().filter_map(|(role, id)| Some((role, id?))).collect()
}

/// Returns the formatted body; if it is not JSON, only its length.
pub(crate) fn format_redacted(body: &str) -> String {
    let mut text = String::new();
    let mut source = serde_json::Deserializer::from_str(body);
    let written = BodyWriter { text: &mut text, depth: 0, is_visible: false }.deserialize(&mut source);
    match written.and_then(|()| source.end()) {
        Ok(()) => text,
        Err(_broken) => format!("{} bytes that are not JSON", body.len()),
    }
}

/// Writes a value with indentation.
struct BodyWriter<'a> {
    text: &'a mut String,
    depth: usize,
    /// Whether strings are shown.
    is_visible: bool,
}

impl BodyWriter<'_> {
    fn begin_line(&mut self, depth: usize, is_first: bool) {
        self.text.push_str(if is_first { "\n" } else { ",\n" });
        self.text.push_str(&"  ".repeat(depth));
    }

    fn close_bracket(&mut self, is_empty: bool, bracket: char) {
        if !is_empty {
            self.text.push('\n');
            self.text.push_str(&"  ".repeat(self.depth));
        }
        self.text.push(bracket);
    }

    fn write_value(self, value: impl fmt::Display) {
        self.text.push_str(&value.to_string());
    }
}

impl<'de> DeserializeSeed<'de> for BodyWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BodyWriter<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.write_value(value);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.write_value(value);
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.write_value(value);
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.write_value(value);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.write_value("null");
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        if self.is_visible {
            self.write_value(serde_json::Value::from(value));
        } else {
            let length = value.chars().count();
            self.write_value(format_args!(
                "… hidden, {length} character{}",
                if length == 1 { "" } else { "s" }
            ));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        let (depth, is_shown, mut is_empty) = (self.depth + 1, self.is_visible, true);
        self.text.push('[');
        loop {
            let before = self.text.len();
            self.begin_line(depth, is_empty);
            let item = BodyWriter { text: self.text, depth, is_visible: is_shown };
            if items.next_element_seed(item)?.is_none() {
                self.text.truncate(before);
                break;
            }
            is_empty = false;
        }
        self.close_bracket(is_empty, ']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let (depth, mut is_empty) = (self.depth + 1, true);
        self.text.push('{');
        while let Some(name) = fields.next_key::<String>()? {
            self.begin_line(depth, is_empty);
            self.text.push_str(&format!("{}: ", serde_json::Value::from(name.as_str())));
            let is_shown = VISIBLE_FIELDS.contains(&name.as_str());
            fields.next_value_seed(BodyWriter { text: self.text, depth, is_visible: is_shown })?;
            is_empty = false;
        }
        self.close_bracket(is_empty, '}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{format_redacted, named_users};

    #[test]
    fn users_are_found_by_role() {
        let body = r#"{"data":{"sender_type":"user","sender_id":"a","receiver_id":"b","points":1}}"#;
        assert_eq!(named_users(body), [("Sender", "a".to_owned()), ("Receiver", "b".to_owned())]);
        assert_eq!(named_users(&body.replace("user", "company")), [("Receiver", "b".to_owned())]);
        assert_eq!(named_users("no JSON"), []);
    }

    #[test]
    fn fields_keep_their_order_and_personal_data_is_hidden() {
        let body = r#"{"type":"t","data":{"sender_name":"Ada","id":"x\"","points":20,"a":[],"b":{},"c":[1,null,"Bob"],
            "share":true,"message":null,"f":1.5}}"#;
        let expected = r#"{
  "type": "t",
  "data": {
    "sender_name": … hidden, 3 characters,
    "id": "x\"",
    "points": 20,
    "a": [],
    "b": {},
    "c": [
      1,
      null,
      … hidden, 3 characters
    ],
    "share": true,
    "message": null,
    "f": 1.5
  }
}"#;
        assert_eq!(format_redacted(body), expected);
    }

    #[test]
    fn invalid_json_is_not_shown() {
        for body in ["", "Ada", "{\"id\":1", "{} x"] {
            assert_eq!(format_redacted(body), format!("{} bytes that are not JSON", body.len()));
        }
        assert_eq!(format_redacted(&"[".repeat(10_000)), "10000 bytes that are not JSON");
    }
}

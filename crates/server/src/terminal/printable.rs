//! Escapes untrusted text for a terminal. Control characters could control the terminal, and bidirectional characters
//! could make it show a different text.
//!
//! JSON escapes are used. They do not change the meaning of JSON, where these characters occur only in strings.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes every character that is not printed as itself, including line breaks and tabs.
pub(crate) fn escape_line(text: &str) -> Cow<'_, str> {
    escape_unless(text, |_| false)
}

/// Escapes every character that is not printed as itself, except tabs and line ends.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        let each = text.split("\r\n").map(|line| escape_unless(line, is_layout));
        return Cow::Owned(each.collect::<Vec<_>>().join("\r\n"));
    }
    escape_unless(text, is_layout)
}

fn is_layout(c: char) -> bool {
    matches!(c, '\n' | '\t')
}

fn escape_unless(text: &str, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let must_escape = |c: char| !is_kept(c) && (c.is_control() || is_bidirectional(c));
    if !text.chars().any(must_escape) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !must_escape(c) => line.push(c),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c => {
                let _never_fails = write!(line, "\\u{:04x}", u32::from(c));
            }
        }
    }
    Cow::Owned(line)
}

/// Whether a character changes the direction of text, or separates lines without being a control character.
fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprintable_characters_are_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(escape_line(text), expected);
        check("plain ü 🎉 שלום", "plain ü 🎉 שלום");
        check("a\nb\r\tc", "a\\nb\\r\\tc");
        check("\u{1b}[31m\u{9b}1m\u{7f}\0", "\\u001b[31m\\u009b1m\\u007f\\u0000");
        check("evil\u{202e}gpj.exe\u{2066}\u{200f}\u{61c}", "evil\\u202egpj.exe\\u2066\\u200f\\u061c");
        check("one\u{2028}two", "one\\u2028two");
    }

    #[test]
    fn line_ends_are_kept_and_json_is_unchanged() {
        assert_eq!(escape_lines("a\tb\nc\r\nd\re\u{1b}"), "a\tb\nc\r\nd\\re\\u001b");
        assert!(matches!(escape_lines("a\nb"), Cow::Borrowed(_)));
        let value = serde_json::json!({"name": "a\u{202e}b\u{9b}"});
        let printed = escape_lines(&value.to_string()).into_owned();
        assert!(printed.is_ascii());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
    }
}

//! Plain strings.

use std::sync::Arc;

use super::InvalidValue;

/// A one-line name or title: 1 to 255 characters, not blank, without control characters (behaviour 8.2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SingleLine(String);

impl SingleLine {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 255;

    /// Parses a line. It is stored byte for byte. In an optional field, an empty string means null; the
    /// caller must handle it first.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let rule = "must be one line of 1 to 255 characters, not blank, without control characters";
        parse_line(text, Self::CHARS_MAX, rule).map(Self)
    }

    /// The string as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A message: up to 10,000 characters, with line breaks and tabs and no other control characters
/// (behaviour 8.3).
///
/// It may be blank; the use case decides whether a blank message means the occasion's default. Clones share
/// the string, because thousands of recognitions may have the same message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Message(Arc<str>);

impl Message {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 10_000;
    /// The maximum number of bytes.
    pub const BYTES_MAX: usize = 4 * Self::CHARS_MAX;

    /// Parses a message. It is stored byte for byte.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_valid = has_at_most_chars(text, Self::CHARS_MAX) && !text.chars().any(is_refused_in_text);
        is_valid.then(|| Self(Arc::from(text))).ok_or(InvalidValue(
            "must be text of at most 10,000 characters, without control characters other than line breaks and tabs",
        ))
    }

    /// The string as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is empty or consists of white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

/// First and last name of a full name, split at its last space (behaviour 11.2). For a single word the last
/// name is empty. Leading and trailing spaces do not split the name. So the first name is blank only if the
/// whole name is, and joining both parts by one space (or the first part alone) gives the full name byte for
/// byte.
pub fn split_full_name(name: &str) -> (String, String) {
    // The last space that is not a trailing space and has a word before it.
    let end = name.trim_end().len();
    let split = name.char_indices().rev().find(|&(at, c)| {
        let words_before = name.get(..at).is_some_and(|before| !before.trim().is_empty());
        c == ' ' && at < end && words_before
    });
    match split.and_then(|(at, _)| Some((name.get(..at)?, name.get(at + 1..)?))) {
        Some((first, last)) => (first.to_owned(), last.to_owned()),
        None => (name.to_owned(), String::new()),
    }
}

/// Parses one line of 1 to `chars_max` characters that is not blank and has no control characters. `rule` is the
/// message of the error.
pub(super) fn parse_line(text: &str, chars_max: usize, rule: &'static str) -> Result<String, InvalidValue> {
    let is_valid =
        !text.trim().is_empty() && has_at_most_chars(text, chars_max) && !text.chars().any(char::is_control);
    is_valid.then(|| text.to_owned()).ok_or(InvalidValue(rule))
}

/// Whether text of several lines must not contain the character: a control character other than line breaks and tabs.
pub(super) fn is_refused_in_text(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

/// Whether the string has at most `length_max` characters.
pub(super) fn has_at_most_chars(text: &str, length_max: usize) -> bool {
    text.chars().nth(length_max).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_1_to_255_characters_without_controls() {
        let check = |input: &str, expected: bool| {
            let line = SingleLine::parse(input);
            assert_eq!(line.is_ok(), expected, "{input:?}");
            assert!(line.is_err() || line.unwrap().as_str() == input, "{input:?} is changed");
        };
        check("A", true);
        check("  Anniversary  ", true);
        check("'; DROP TABLE users; -- %s {{7*7}} ${x} \\", true);
        check("👩‍👩‍👧‍👦 émile \u{65}\u{301}mile", true); // joined emoji, NFC next to NFD
        check("\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202e}x", true); // right to left
        check("𝒳", true);
        check(&"x".repeat(255), true);
        check(&"𝒳".repeat(255), true);
        check(&"x".repeat(256), false);
        check(&"𝒳".repeat(256), false);
        check("", false);
        check(" ", false);
        check("\u{a0}\u{3000}", false);
        for control in ('\0'..='\x1f').chain('\x7f'..='\u{9f}') {
            check(&format!("a{control}b"), false);
        }
    }

    #[test]
    fn a_message_is_up_to_10_000_characters_with_line_breaks_and_tabs() {
        let check = |input: &str, expected: bool| {
            let message = Message::parse(input);
            assert_eq!(message.is_ok(), expected, "{input:?}");
            assert!(message.is_err() || message.unwrap().as_str() == input, "{input:?} is changed");
        };
        check("", true);
        check(" \n", true);
        check("Thank you!\r\n\n\tYou 🎉", true);
        check(&"x".repeat(10_000), true);
        check(&"🎉".repeat(10_000), true);
        check(&"x".repeat(10_001), false);
        check(&"🎉".repeat(10_001), false);
        for control in ('\0'..='\x1f').chain('\x7f'..='\u{9f}') {
            check(&format!("a{control}b"), matches!(control, '\n' | '\r' | '\t'));
        }
    }

    #[test]
    fn blank_messages_are_recognised() {
        let check =
            |input, expected| assert_eq!(Message::parse(input).unwrap().is_blank(), expected, "{input:?}");
        check("", true);
        check(" \r\n\t\u{3000}", true);
        check(" . ", false);
    }

    #[test]
    fn a_full_name_is_split_at_its_last_space() {
        let check = |name: &str, first: &str, last: &str| {
            let parts = split_full_name(name);
            assert_eq!((parts.0.as_str(), parts.1.as_str()), (first, last), "{name:?}");
            let joined = if last.is_empty() { first.to_owned() } else { format!("{first} {last}") };
            assert_eq!(joined, name);
        };
        check("Ada Lovelace", "Ada", "Lovelace");
        check("Ada King Lovelace", "Ada King", "Lovelace");
        check("Ada", "Ada", "");
        check("", "", "");
        check("Ada  Lovelace", "Ada ", "Lovelace");
        check("Ada Lovelace ", "Ada", "Lovelace ");
        check("Ada ", "Ada ", "");
        check(" Ada", " Ada", "");
        check(" Ada Lovelace", " Ada", "Lovelace");
        check("张 伟", "张", "伟");
        check("Ada\u{a0}Lovelace", "Ada\u{a0}Lovelace", "");
        check(" ", " ", "");
    }
}

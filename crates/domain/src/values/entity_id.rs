//! The identifier of an identity provider.

use super::InvalidValue;
use super::text::parse_line;

/// A SAML entity identifier: one line of 1 to 1,024 characters (the limit of SAML), not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityId(String);

impl EntityId {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 1_024;

    /// Parses an identifier. It is stored byte for byte.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let rule = "must be one line of 1 to 1,024 characters, not blank, without control characters";
        parse_line(text, Self::CHARS_MAX, rule).map(Self)
    }

    /// The string as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_id_is_one_line_of_1_to_1024_characters() {
        let check =
            |text: &str, expected: bool| assert_eq!(EntityId::parse(text).is_ok(), expected, "{text:?}");
        check("https://idp.example.com/metadata", true);
        check("urn:example:idp", true);
        check(&"ü".repeat(1_024), true);
        check(&"x".repeat(1_025), false);
        check("", false);
        check(" ", false);
        check("a\nb", false);
        check("a\0b", false);
    }
}

//! The groups of a user.

use super::InvalidValue;
use super::text::has_at_most_chars;

/// The names of the groups that a user is in, at least one, joined by commas (behaviour 8.10).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Groups(String);

impl Groups {
    /// The maximum number of characters.
    pub const CHARS_MAX: usize = 4_096;

    /// Splits at commas, trims, and removes blank and duplicate names; the first of equal names is kept.
    /// `None` if no name remains. The limit of 4,096 characters applies to the string as sent.
    pub fn parse(text: &str) -> Result<Option<Self>, InvalidValue> {
        if !has_at_most_chars(text, Groups::CHARS_MAX) || text.chars().any(char::is_control) {
            return Err(InvalidValue(
                "must be group names separated by commas, at most 4,096 characters, without control characters",
            ));
        }
        let mut seen = std::collections::HashSet::new();
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty() && seen.insert(*name));
        let joined = names.collect::<Vec<_>>().join(",");
        Ok(if joined.is_empty() { None } else { Some(Self(joined)) })
    }

    /// The names, joined by commas without spaces, as stored and returned.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_trimmed_and_blanks_and_repeats_are_dropped() {
        let check = |input: &str, expected: Option<&str>| {
            let groups = Groups::parse(input).unwrap();
            assert_eq!(groups.as_ref().map(Groups::as_str), expected, "{input:?}");
            // The parsed form can be parsed again.
            let again = expected.and_then(|stored| Groups::parse(stored).unwrap());
            assert_eq!(again, groups, "{input:?}");
        };
        check("sales", Some("sales"));
        check("sales,support", Some("sales,support"));
        check(" sales , east coast ,,support, ", Some("sales,east coast,support"));
        check("b,a,b,a", Some("b,a"));
        check("Sales,sales", Some("Sales,sales"));
        check("👩‍💻,é,e\u{301}", Some("👩‍💻,é,e\u{301}"));
        check("", None);
        check(" ", None);
        check(",", None);
        check(" , ,", None);
    }

    #[test]
    fn groups_are_at_most_4_096_characters_without_controls() {
        let check = |input: &str, expected| assert_eq!(Groups::parse(input).is_ok(), expected, "{input:?}");
        check(&"x".repeat(4_096), true);
        check(&"🎉".repeat(4_096), true);
        check(&"x".repeat(4_097), false);
        check("a\0b", false);
        check("a\nb", false);
        check("a,\t", false);
        check("a\u{7f}", false);
        check("a\u{85}", false);
    }
}

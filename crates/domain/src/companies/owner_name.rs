//! The full name of a company's owner.

use crate::values::{InvalidValue, SingleLine, split_full_name};

/// A full name, split at its last space into first and last name. The split fails if the full name exceeds
/// the limit for one name, which can happen if two long names were joined. Such a name is accepted only if it
/// equals the owner's current name.
#[derive(Debug, Clone)]
pub struct OwnerName {
    pub(super) text: String,
    split: Result<(SingleLine, Option<SingleLine>), InvalidValue>,
}

/// The maximum length of an owner's full name in characters: two names of 255, and a space.
const FULL_NAME_LENGTH_MAX: usize = 255 + 1 + 255;

impl OwnerName {
    /// Parses a name from an update. Refuses a name that no owner can have, so that the fault is reported
    /// together with the other faults of the request body.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let name = Self::new(text);
        let is_possible_name = !text.trim().is_empty()
            && !text.chars().any(char::is_control)
            && text.chars().nth(FULL_NAME_LENGTH_MAX).is_none();
        match name.split {
            Err(refusal) if !is_possible_name => Err(refusal),
            _ => Ok(name),
        }
    }

    /// Wraps a name without checking it.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), split: split_name(text) }
    }

    /// Returns the first and the last name. A full name of a single word has no last name.
    pub fn into_parts(self) -> Result<(SingleLine, Option<SingleLine>), InvalidValue> {
        self.split
    }
}

fn split_name(text: &str) -> Result<(SingleLine, Option<SingleLine>), InvalidValue> {
    SingleLine::parse(text)?;
    let (first, last) = split_full_name(text);
    let last = if last.is_empty() { None } else { Some(SingleLine::parse(&last)?) };
    Ok((SingleLine::parse(&first)?, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_name_has_a_first_and_an_optional_last_name() {
        let check = |name: &str, first: &str, last: Option<&str>| {
            let (read_first, read_last) = OwnerName::new(name).into_parts().unwrap();
            let read = (read_first.as_str(), read_last.as_ref().map(SingleLine::as_str));
            assert_eq!(read, (first, last), "{name:?}");
        };
        check("Ada Lovelace", "Ada", Some("Lovelace"));
        check("Ada King Lovelace", "Ada King", Some("Lovelace"));
        check("Ada", "Ada", None);
        check("Ada ", "Ada ", None);
        for refused in ["", " ", "a\nb", &"x".repeat(256)] {
            assert!(OwnerName::new(refused).into_parts().is_err(), "{refused:?}");
        }
        for refused in ["", " ", "a\nb", "a\0b", &"x".repeat(512), &format!("{}\u{7f}", "x".repeat(300))] {
            assert!(OwnerName::parse(refused).is_err(), "{refused:?}");
        }
        for possible_name in ["Ada", &"x".repeat(256), &"𝒳".repeat(511)] {
            assert!(OwnerName::parse(possible_name).is_ok(), "{possible_name:?}");
        }
    }
}

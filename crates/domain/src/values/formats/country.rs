//! Country codes.

use crate::values::InvalidValue;

/// A country's ISO 3166-1 code, alpha-2 or alpha-3 as given, stored in upper case (behaviour 8.9).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CountryCode(String);

impl CountryCode {
    /// Parses a code in any case. Codes that the standard reserves or has withdrawn, such as UK, are refused.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let code = text.to_ascii_uppercase();
        let is_known = match code.len() {
            2 => rust_iso3166::from_alpha2(&code).is_some(),
            3 => rust_iso3166::from_alpha3(&code).is_some(),
            _ => false,
        };
        is_known
            .then_some(Self(code))
            .ok_or(InvalidValue("must be an ISO 3166 country code of two or three letters"))
    }

    /// The code in upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_country_code_is_a_real_one_of_two_or_three_letters() {
        let check = |input: &str, expected: Option<&str>| {
            assert_eq!(
                CountryCode::parse(input).ok().as_ref().map(CountryCode::as_str),
                expected,
                "{input:?}"
            );
        };
        check("US", Some("US"));
        check("us", Some("US"));
        check("uSa", Some("USA"));
        check("DE", Some("DE"));
        check("DEU", Some("DEU"));
        check("GB", Some("GB"));
        check("SS", Some("SS"));
        check("UK", None);
        check("XX", None);
        check("ZZ", None);
        check("ZZZ", None);
        check("AN", None);
        check("SU", None);
        check("840", None);
        check("U", None);
        check("USAA", None);
        check(" US", None);
        check("US ", None);
        check("U\0", None);
        check("U\n", None);
        check("ü", None);
        check("ＵＳ", None);
        check("", None);
    }

    #[test]
    fn the_standard_has_249_countries() {
        let letters = || ('A'..='Z').map(String::from);
        let pairs = letters().flat_map(|first| letters().map(move |second| first.clone() + &second));
        assert_eq!(pairs.filter(|pair| CountryCode::parse(pair).is_ok()).count(), 249);
    }
}

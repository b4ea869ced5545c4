//! The query of a URL, and links that change a part of it.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Parameters in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses the query that a browser sends: `sort=name&q=a+b`. Never fails; invalid UTF-8 is replaced.
    pub fn parse(text: &str) -> Self {
        let plain = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(n, v)| (plain(n), plain(v)))
                .collect(),
        )
    }

    /// Returns the first value of this name that is not blank, trimmed.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.trim())
            .find(|value| !value.is_empty())
    }

    /// Returns a copy with this parameter replaced.
    #[must_use]
    pub(crate) fn with_parameter(&self, name: &str, value: &str) -> Self {
        let mut query = self.without_parameters(&[name]);
        query.0.push((name.to_owned(), value.to_owned()));
        query
    }

    /// Returns a copy without these parameters and without blank ones.
    #[must_use]
    pub(crate) fn without_parameters(&self, names: &[&str]) -> Self {
        let stays = |name: &str, value: &str| !names.contains(&name) && !value.trim().is_empty();
        Self(self.0.iter().filter(|(name, value)| stays(name, value)).cloned().collect())
    }

    /// Returns `path` with these parameters.
    pub(crate) fn to_link(&self, path: &str) -> String {
        let encoded = |part: &str| utf8_percent_encode(part, NON_ALPHANUMERIC).to_string();
        let pairs: Vec<String> =
            self.0.iter().map(|(n, v)| format!("{}={}", encoded(n), encoded(v))).collect();
        if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
    }

    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_parsed_as_browsers_encode_them() {
        let query = Query::parse("q=a+b%26%C3%A4&sort=name&&page&q=other&bad=%ff");
        assert_eq!(query.get("q"), Some("a b&ä"));
        assert_eq!(query.get("sort"), Some("name"));
        assert_eq!(query.get("page"), None);
        assert_eq!(query.get("bad"), Some("\u{fffd}"));
        assert_eq!(Query::parse(""), Query::default());
    }

    #[test]
    fn link_keeps_the_other_parameters() {
        let query = Query::parse("q=a%26b&sort=name&page=3&state=");
        assert_eq!(
            query.with_parameter("sort", "users").without_parameters(&["page"]).to_link("/companies"),
            "/companies?q=a%26b&sort=users"
        );
        assert_eq!(Query::default().to_link("/companies"), "/companies");
        assert_eq!(Query::parse(query.to_link("").trim_start_matches('?')), query);
    }
}

//! Valid and invalid values of each kind of field, as JSON.

use serde_json::Value;

use super::endpoints::FieldKind;
use crate::support::provider_fixture::CERTIFICATE;

const ID: &str = "0193a5c0-0000-7000-8000-000000000001";

/// A string as JSON.
pub fn json_string(string: impl AsRef<str>) -> String {
    Value::from(string.as_ref()).to_string()
}

impl FieldKind {
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Rate | Self::Alert | Self::Points | Self::Flag)
    }

    /// A string that is valid or almost valid.
    fn example_value(self) -> &'static str {
        match self {
            Self::Line | Self::EntityId | Self::Message | Self::Groups => "good text",
            Self::Email => "good@example.com",
            Self::Url => "https://example.com/good.png",
            Self::Domain => "good.example.com",
            Self::Id | Self::Receivers => ID,
            Self::Country => "DE",
            Self::Birthday => "12/31",
            Self::Date => "12/31/2020",
            Self::Certificate => CERTIFICATE,
            Self::SenderType => "company",
            Self::Rate | Self::Alert | Self::Points | Self::Flag => "",
        }
    }

    /// Every value that a field of this kind rejects, except null and the empty string.
    pub fn refused_values(self) -> Vec<String> {
        let of_kind = match self {
            Self::Line => refused_lines(255),
            Self::EntityId => refused_lines(1_024),
            Self::Message => {
                vec![
                    json_string("x".repeat(10_001)),
                    json_string("é".repeat(10_001)),
                    json_string("\n".repeat(10_001)),
                ]
            }
            Self::Groups => vec![json_string("x".repeat(4_097)), json_string("é".repeat(4_097))],
            Self::Email => json_strings(EMAILS).chain(long_emails()).collect(),
            Self::Url => json_strings(URLS).chain(long_urls()).collect(),
            Self::Domain => json_strings(DOMAINS).chain(long_domains()).collect(),
            Self::Id => refused_ids().iter().map(json_string).collect(),
            Self::Receivers => json_strings(RECEIVERS).chain(refused_ids().iter().map(json_string)).collect(),
            Self::Country => json_strings(COUNTRIES).collect(),
            Self::Birthday => json_strings(BIRTHDAYS).collect(),
            Self::Date => json_strings(DATES).collect(),
            Self::SenderType => json_strings(SENDER_TYPES).collect(),
            Self::Certificate => json_strings(CERTIFICATES).collect(),
            Self::Flag => raw_values(FLAGS).collect(),
            Self::Rate => raw_values(INTEGERS)
                .chain(raw_values(&["0", "10001", "2147483648", "9007199254740993"]))
                .collect(),
            Self::Alert => raw_values(INTEGERS).collect(),
            Self::Points => raw_values(INTEGERS)
                .chain(raw_values(&["0", "250001", "2147483648", "9007199254740993"]))
                .collect(),
        };
        if self.is_text() {
            of_kind.into_iter().chain(raw_values(NON_STRINGS)).chain(self.strings_with_controls()).collect()
        } else {
            of_kind
        }
    }

    /// The example with control characters added, which no field of this kind accepts.
    fn strings_with_controls(self) -> Vec<String> {
        let good = self.example_value();
        let middle = good.len() / 2;
        let (before, after) = good.split_at(middle);
        let controls =
            if matches!(self, Self::Message | Self::Certificate) { MESSAGE_CONTROLS } else { CONTROLS };
        let mut all: Vec<String> =
            controls.chars().map(|control| json_string(format!("{before}{control}{after}"))).collect();
        all.extend([json_string(format!("{good}\0")), json_string(format!("\0{good}"))]);
        if !matches!(self, Self::Message | Self::Certificate | Self::Receivers) {
            all.extend(["\n", "\r\n", "\u{7f}"].map(|ending| json_string(format!("{good}{ending}"))));
        }
        all
    }
}

/// JSON values, verbatim.
fn raw_values<'a>(all: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    all.iter().map(|value| (*value).to_owned())
}

/// Strings as JSON.
fn json_strings<'a>(all: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    all.iter().map(json_string)
}

const NON_STRINGS: &[&str] =
    &["1", "0", "-1", "1.5", "1e2", "true", "false", "[]", "{}", "[\"x\"]", "[null]", "{\"a\":\"x\"}"];
const CONTROLS: &str = "\0\u{1}\t\n\u{b}\u{c}\r\u{1b}\u{1f}\u{7f}\u{80}\u{85}\u{9f}";
const MESSAGE_CONTROLS: &str = "\0\u{1}\u{7}\u{8}\u{b}\u{c}\u{1b}\u{1f}\u{7f}\u{80}\u{9f}";
const INTEGERS: &[&str] = &[
    "\"10\"",
    "\"\"",
    "10.0",
    "1e2",
    "1E+2",
    "10.5",
    "-0.0",
    "-1",
    "-10",
    "-2147483649",
    "-9223372036854775808",
    "-9223372036854775809",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1000000000000000000000000000000",
    "true",
    "false",
    "[]",
    "[10]",
    "{}",
    "\"ten\"",
];
const FLAGS: &[&str] =
    &["1", "0", "-1", "1.0", "\"true\"", "\"false\"", "\"\"", "\"yes\"", "\"1\"", "[]", "[true]", "{}"];
const EMAILS: &[&str] = &[
    " ",
    "nobody",
    "@",
    "a@",
    "@example.com",
    "a@@example.com",
    "a@b@example.com",
    "a b@example.com",
    "a@exam ple.com",
    " a@example.com",
    "a@example.com ",
    "a@example..com",
    "a@.example.com",
    "a@example.com.",
    "a@-example.com",
    "a@example-.com",
    "a.@example.com",
    ".a@example.com",
    "a..b@example.com",
    "a@example.com, b@example.com",
    "a@example.com;b@example.com",
    "Ann <a@example.com>",
    "<a@example.com>",
    "a(comment)@example.com",
    "a@example.com\r\nBcc: b@example.com",
    "mailto:a@example.com",
    "a@exam_ple.com",
    "a@example.com/x",
];
const URLS: &[&str] = &[
    " ",
    "x",
    "example.com",
    "//example.com/x",
    "/x",
    "http",
    "http:",
    "https:",
    "https:/",
    "https://",
    "https:///x",
    "https://?x",
    "https://#x",
    "https://:443/x",
    "ftp://example.com/x",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "mailto:a@example.com",
    "gopher://example.com/",
    "ws://example.com/",
    "blob:https://example.com/x",
    "https://user@example.com/x",
    "https://user:pass@example.com/x",
    "https://:pass@example.com/x",
    "https://example.com:99999/x",
    "https://example.com:x/",
    "https://[::1/x",
    "https://[x]/",
    "https://exa mple.com/x",
    "https://example.com/a b",
    " https://example.com/x",
    "https://example.com/x ",
    "https://exam%zzple.com/",
    "https://example.com/\u{2003}",
    "https://256.1.1.1/",
    "https://exa<mple.com/",
    "https://a^b.example.com/",
];
const DOMAINS: &[&str] = &[
    " ",
    ".",
    "..",
    "localhost",
    "example",
    "192.0.2.1",
    "[2001:db8::1]",
    "::1",
    "1.2.3",
    "0x7f.1",
    "a..b",
    ".example.com",
    "example.com.",
    "-a.example.com",
    "a-.example.com",
    "a_b.example.com",
    "a/b.example.com",
    "example.com/",
    "example.com/x",
    "example.com:443",
    "https://example.com",
    "a b.example.com",
    " example.com",
    "example.com ",
    "example.com\r\nX-Injected: 1",
    "*.example.com",
    "a@example.com",
    "a%2eexample.com",
    "exa'mple.com",
    "exa\"mple.com",
    "<b>.example.com",
    "a,b.example.com",
    "xn--.example.com",
    "xn--zzzzzzzzz9999999.example.com",
    "a?b.example.com",
    "a#b.example.com",
    "a\\b.example.com",
    "example.com\u{3002}",
    "\u{200b}.example.com",
];
const COUNTRIES: &[&str] = &[
    " ",
    "D",
    "XX",
    "ZZ",
    "XXX",
    "UK",
    "EU",
    "DEUT",
    "276",
    "de-DE",
    " DE",
    "DE ",
    "D E",
    "\u{ff24}\u{ff25}",
    "u\u{17f}",
    "Germany",
    "D\u{c9}",
    "''",
    "A1",
];
const BIRTHDAYS: &[&str] = &[
    " ",
    "02/30",
    "04/31",
    "06/31",
    "09/31",
    "11/31",
    "00/10",
    "13/01",
    "01/00",
    "01/32",
    "1/2",
    "01/2",
    "1/02",
    "0102",
    "01-02",
    "01.02",
    "01/02/2000",
    "2000-01-02",
    "31/12",
    "-1/02",
    "+1/02",
    "01/ 2",
    " 1/02",
    "01/02 ",
    "0\u{661}/02",
    "\u{ff10}1/02",
    "01//2",
    "aa/bb",
];
const DATES: &[&str] = &[
    " ",
    "13/01/2020",
    "00/01/2020",
    "01/00/2020",
    "01/32/2020",
    "02/30/2020",
    "02/29/2021",
    "02/29/1900",
    "04/31/2020",
    "1/1/2020",
    "01/01/20",
    "01/01/02020",
    "01/01/-020",
    "01/01/+020",
    "2020-01-01",
    "01-01-2020",
    "20200101",
    "01/01/2020 ",
    " 01/01/2020",
    "01/01/2020T00:00",
    "31/12/2020",
    "01/01",
    "aa/bb/cccc",
    "01/01/20\u{661}0",
];
const SENDER_TYPES: &[&str] =
    &[" ", "User", "COMPANY", "company ", " user", "users", "admin", "null", "1", "corporation"];
const RECEIVERS: &[&str] = &[
    " ",
    ",",
    ",,",
    " , ",
    "x",
    "null",
    "[]",
    "0193a5c0-0000-7000-8000-000000000001,",
    ",0193a5c0-0000-7000-8000-000000000001",
    "0193a5c0-0000-7000-8000-000000000001,,0193a5c0-0000-7000-8000-000000000002",
    "0193a5c0-0000-7000-8000-000000000001, ,0193a5c0-0000-7000-8000-000000000002",
    "0193a5c0-0000-7000-8000-000000000001,x",
    "0193a5c0-0000-7000-8000-000000000001,0193a5c0-0000-7000-8000-000000000001",
    "0193a5c0-0000-7000-8000-000000000001,0193A5C0-0000-7000-8000-000000000001",
    "0193a5c0-0000-7000-8000-000000000001;0193a5c0-0000-7000-8000-000000000002",
    "0193a5c0-0000-7000-8000-000000000001 0193a5c0-0000-7000-8000-000000000002",
    "[\"0193a5c0-0000-7000-8000-000000000001\"]",
];
const CERTIFICATES: &[&str] =
    &[" ", "x", "-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"];

fn refused_lines(max: usize) -> Vec<String> {
    let blank = [" ", "  ", "\u{a0}", "\u{2003}\u{3000}"].map(json_string);
    let long = ["x", "é", "🎉", "e\u{301}"]
        .map(|character| json_string(character.repeat(max + 1).chars().take(max + 1).collect::<String>()));
    blank.into_iter().chain(long).collect()
}

fn refused_ids() -> Vec<String> {
    let bare = ID.replace('-', "");
    vec![
        "x".to_owned(),
        " ".to_owned(),
        bare.clone(),
        format!("{{{ID}}}"),
        format!("urn:uuid:{ID}"),
        format!("{ID}0"),
        ID[1..].to_owned(),
        format!("{}g", &ID[..35]),
        ID.replace('-', "_"),
        "x".repeat(36),
        "-".repeat(36),
        "\u{ff10}".to_owned() + &ID[1..],
        "x".repeat(100_000),
    ]
}

/// A domain of this many characters.
pub fn domain_of_length(length: usize) -> String {
    let tail = ".example.com";
    let mut left = length - tail.len();
    let mut labels = Vec::new();
    while left > 63 {
        labels.push("d".repeat(61));
        left -= 62;
    }
    labels.push("e".repeat(left));
    labels.join(".") + tail
}

/// An email address of this many characters.
pub fn email_of_length(length: usize) -> String {
    let local = "l".repeat(64);
    format!("{local}@{}", domain_of_length(length - 65))
}

/// A URL of this many characters.
pub fn url_of_length(length: usize) -> String {
    let start = "https://example.com/";
    format!("{start}{}", "u".repeat(length - start.len()))
}

fn long_emails() -> [String; 3] {
    [
        json_string(email_of_length(255)),
        json_string(format!("{}@example.com", "l".repeat(65))),
        json_string(format!("{}@example.com", "l".repeat(100_000))),
    ]
}

fn long_urls() -> [String; 2] {
    [json_string(url_of_length(2_049)), json_string(url_of_length(100_000))]
}

fn long_domains() -> [String; 3] {
    [
        json_string(domain_of_length(254)),
        json_string(format!("{}.example.com", "d".repeat(64))),
        json_string(format!("{}.example.com", "ü".repeat(100))),
    ]
}

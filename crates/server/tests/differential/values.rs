//! Valid and invalid values for the fields of bodies and queries, as JSON.

use super::rng::TestRng;

/// The kind of value that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Company,
    Corporation,
    Occasion,
    Recognition,
    User,
    Sender,
    Receivers,
    SenderType,
    WalletType,
    PageNumber,
    Line,
    Message,
    Email,
    Domain,
    Url,
    Rate,
    Points,
    Flag,
    Birthday,
    Date,
    Country,
    Groups,
    Certificate,
}

const LINES: &[&str] = &[
    "Ann",
    "O'Neil; DROP TABLE users --",
    "Zoë 漢字 🛠\u{200d}",
    "e\u{301} é",
    "100%_\\\\",
    "\u{202e}abc",
    "{{7*7}} ${x} %s",
    "İıß",
];
const INVALID_LINES: &[&str] =
    &["\"\"", "\"   \"", "\"a\\u0000b\"", "\"a\\nb\"", "\"\\u0085\"", "\"\\ud800\""];
const WRONG_TYPES: &[&str] =
    &["null", "7", "true", "1.5", "[]", "{}", "[\"x\"]", "\"\\u0000\"", "\"\"", "\" \"", "1e400"];
const EMAILS: &[&str] =
    &["reserve+x@example.com", "O'Neil@example.com", "jösé@example.com", "\\\"a b\\\"@example.com"];
const INVALID_EMAILS: &[&str] = &[
    "nobody",
    "a@",
    "@b",
    "a@b@c",
    "a b@example.com",
    "a@example.com\\u0000",
    "a@exa mple.com",
    "a@[127.0.0.1]",
];
const INVALID_DOMAINS: &[&str] = &[
    "localhost",
    "a..b",
    "192.0.2.1",
    "example.com.",
    "-a.example",
    "a_b.example",
    "a/b.example",
    "ex ample.com",
];
const URLS: &[&str] =
    &["https://example.com/logo.png", "http://bücher.example/ü?q=1#f", "HTTPS://EXAMPLE.com:443/%00"];
const INVALID_URLS: &[&str] =
    &["ftp://example.com/x", "//example.com", "https://user@example.com/", "javascript:alert(1)", "https://"];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "-0",
    "3",
    "7",
    "50",
    "100",
    "250000",
    "250001",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "1.0",
    "1e2",
    "\"10\"",
];
const RATES: &[&str] = &["50", "100", "1", "3", "7", "9999", "10000"];
const INVALID_RATES: &[&str] = &["0", "-1", "10001", "2147483648", "9223372036854775808", "50.0", "\"50\""];
const DAYS: &[&str] = &["02/29", "12/31", "01/01"];
const INVALID_DAYS: &[&str] = &["02/30", "2/29", "00/01", "13/01", "01/32", "02-28", "０２/２８"];
const DATES: &[&str] = &["01/15/2020", "02/29/2024", "12/31/1999"];
const INVALID_DATES: &[&str] =
    &["02/29/2023", "13/01/2020", "01/15/20", "2020-01-15", "01/01/0000", "01/01/9999", "1/1/2020"];
const COUNTRIES: &[&str] = &["de", "DEU", "us", "Fr"];
const INVALID_COUNTRIES: &[&str] = &["XX", "D", "ZZZ", "276", "ß"];
const GROUPS: &[&str] = &["red,blue", " red , ,blue,red ", "é,e\u{301}", ",,"];
const PAGES: &[&str] = &["1", "2", "3", "100", "101", "1000", "1001", "9223372036854775807"];
const INVALID_PAGES: &[&str] =
    &["0", "-1", "+1", "abc", "", "1.0", "%00", "9223372036854775808", "%zz", "%C3"];
const WALLETS: &[&str] = &["user_wallet", "peer_wallet", "manager_wallet"];
const INVALID_WALLETS: &[&str] = &["reserve", "", "USER_WALLET", "user_wallet%00"];

/// A certificate, created once, so that both databases receive the same one.
pub struct ValueGenerator {
    certificate: String,
    domains: usize,
}

impl ValueGenerator {
    pub fn new() -> Self {
        let generated = rcgen::generate_simple_self_signed(["idp.example.com".to_owned()]).unwrap();
        Self { certificate: quote(&generated.cert.pem().replace('\n', "\\n")), domains: 0 }
    }

    /// A value that is probably valid.
    pub fn valid_value(&mut self, kind: ValueKind, rng: &mut TestRng) -> String {
        let mut text = |all: &[&'static str]| quote(rng.pick_word(all));
        match kind {
            ValueKind::Line | ValueKind::Message => text(LINES),
            ValueKind::Email => {
                let number = rng.random_below(60);
                if number < 50 { format!("\"u{number}@example.com\"") } else { quote(rng.pick_word(EMAILS)) }
            }
            ValueKind::Domain => self.next_domain(rng),
            ValueKind::Url => text(URLS),
            ValueKind::Rate => rng.pick_word(RATES).to_owned(),
            ValueKind::Points => (1 + rng.random_below(11)).to_string(),
            ValueKind::Flag => rng.pick_word(&["true", "true", "false"]).to_owned(),
            ValueKind::Birthday => text(DAYS),
            ValueKind::Date => text(DATES),
            ValueKind::Country => text(COUNTRIES),
            ValueKind::Groups => text(GROUPS),
            ValueKind::Certificate => self.certificate.clone(),
            ValueKind::SenderType => text(&["user", "company"]),
            ValueKind::WalletType => rng.pick_word(WALLETS).to_owned(),
            ValueKind::PageNumber => rng.pick_word(PAGES).to_owned(),
            ValueKind::Company
            | ValueKind::Corporation
            | ValueKind::Occasion
            | ValueKind::Recognition
            | ValueKind::User
            | ValueKind::Sender
            | ValueKind::Receivers => unreachable!("{kind:?} names objects"),
        }
    }

    fn next_domain(&mut self, rng: &mut TestRng) -> String {
        self.domains += usize::from(rng.random_bool(85));
        let number = self.domains;
        let shape = ["d{}.example.com", "D{}.Example.COM", "bücher{}.example", "xn--bcher-kva{}.example.org"];
        quote(&rng.pick_word(&shape).replace("{}", &number.to_string()))
    }

    /// A value that is probably invalid.
    pub fn invalid_value(&mut self, kind: ValueKind, rng: &mut TestRng) -> String {
        if kind == ValueKind::WalletType {
            return rng.pick_word(INVALID_WALLETS).to_owned();
        }
        if kind == ValueKind::PageNumber {
            return rng.pick_word(INVALID_PAGES).to_owned();
        }
        if rng.random_bool(40) {
            return rng.pick_word(WRONG_TYPES).to_owned();
        }
        let seldom = rng.random_bool(20);
        let mut text = |all: &[&'static str]| quote(rng.pick_word(all));
        match kind {
            ValueKind::Message | ValueKind::Line => self.invalid_text(kind, rng),
            ValueKind::Email if seldom => {
                let number = rng.random_below(10);
                (*rng.pick_one(&[format!("\"U{number}@EXAMPLE.com\""), long_string("a@x.", 300, "com")]))
                    .clone()
            }
            ValueKind::Email => text(INVALID_EMAILS),
            ValueKind::Domain => text(INVALID_DOMAINS),
            ValueKind::Url if seldom => long_string("https://example.com/", 2048, ""),
            ValueKind::Url => text(INVALID_URLS),
            ValueKind::Rate => rng.pick_word(INVALID_RATES).to_owned(),
            ValueKind::Points => rng.pick_word(NUMBERS).to_owned(),
            ValueKind::Flag => rng.pick_word(&["\"true\"", "0", "null"]).to_owned(),
            ValueKind::Birthday => text(INVALID_DAYS),
            ValueKind::Date => text(INVALID_DATES),
            ValueKind::Country => text(INVALID_COUNTRIES),
            ValueKind::Groups => self.invalid_text(kind, rng),
            ValueKind::Certificate => {
                let begin = "-----BEGIN CERTIFICATE-----";
                let broken = format!("\"{begin}\\nAAAA\\n-----END CERTIFICATE-----\\n\"");
                let doubled = self.certificate.replace("\\n\"", &format!("\\n{begin}\""));
                (*rng.pick_one(&[broken, doubled, long_string(begin, 70_000, "")])).clone()
            }
            ValueKind::SenderType => text(&["User", "reserve", "users"]),
            _ => {
                text(&["x", "0193a5c0-0000-7000-8000-00000000000", "{0193a5c0-0000-7000-8000-000000000001}"])
            }
        }
    }

    /// Strings close to their length limits, and strings with characters that no field accepts.
    fn invalid_text(&self, kind: ValueKind, rng: &mut TestRng) -> String {
        let limit = match kind {
            ValueKind::Message => 10_000,
            ValueKind::Groups => 4_096,
            _ => 255,
        };
        match rng.random_below(6) {
            0 => long_string("", limit, ""),
            1 => long_string("x", limit, ""),
            2 => quote(&"🛠".repeat(limit)),
            3 => quote(&format!("{}é", "漢".repeat(limit))),
            _ => rng.pick_word(INVALID_LINES).to_owned(),
        }
    }
}

fn quote(text: &str) -> String {
    format!("\"{text}\"")
}

fn long_string(start: &str, middle: usize, end: &str) -> String {
    quote(&format!("{start}{}{end}", "x".repeat(middle)))
}

//! Valid and invalid values for the fields of bodies and queries, as JSON.

use super::chance::Chance;

/// The kind of value that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Company,
    Corporation,
    Occasion,
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
const NASTY_LINES: &[&str] = &["\"\"", "\"   \"", "\"a\\u0000b\"", "\"a\\nb\"", "\"\\u0085\"", "\"\\ud800\""];
const WRONG_TYPES: &[&str] =
    &["null", "7", "true", "1.5", "[]", "{}", "[\"x\"]", "\"\\u0000\"", "\"\"", "\" \"", "1e400"];
const EMAILS: &[&str] =
    &["reserve+x@example.com", "O'Neil@example.com", "jösé@example.com", "\\\"a b\\\"@example.com"];
const NASTY_EMAILS: &[&str] = &[
    "nobody",
    "a@",
    "@b",
    "a@b@c",
    "a b@example.com",
    "a@example.com\\u0000",
    "a@exa mple.com",
    "a@[127.0.0.1]",
];
const NASTY_DOMAINS: &[&str] = &[
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
const NASTY_URLS: &[&str] =
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
const NASTY_RATES: &[&str] = &["0", "-1", "10001", "2147483648", "9223372036854775808", "50.0", "\"50\""];
const DAYS: &[&str] = &["02/29", "12/31", "01/01"];
const NASTY_DAYS: &[&str] = &["02/30", "2/29", "00/01", "13/01", "01/32", "02-28", "０２/２８"];
const DATES: &[&str] = &["01/15/2020", "02/29/2024", "12/31/1999"];
const NASTY_DATES: &[&str] =
    &["02/29/2023", "13/01/2020", "01/15/20", "2020-01-15", "01/01/0000", "01/01/9999", "1/1/2020"];
const COUNTRIES: &[&str] = &["de", "DEU", "us", "Fr"];
const NASTY_COUNTRIES: &[&str] = &["XX", "D", "ZZZ", "276", "ß"];
const GROUPS: &[&str] = &["red,blue", " red , ,blue,red ", "é,e\u{301}", ",,"];
const PAGES: &[&str] = &["1", "2", "3", "100", "101", "1000", "1001", "9223372036854775807"];
const NASTY_PAGES: &[&str] = &["0", "-1", "+1", "abc", "", "1.0", "%00", "9223372036854775808", "%zz", "%C3"];
const WALLETS: &[&str] = &["user_wallet", "peer_wallet", "manager_wallet"];
const NASTY_WALLETS: &[&str] = &["reserve", "", "USER_WALLET", "user_wallet%00"];

/// A certificate, created once, so that both databases receive the same one.
pub struct Values {
    certificate: String,
    domains: usize,
}

impl Values {
    pub fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["idp.example.com".to_owned()]).unwrap();
        Self { certificate: quoted(&made.cert.pem().replace('\n', "\\n")), domains: 0 }
    }

    /// A value that is probably valid.
    pub fn good(&mut self, kind: Kind, chance: &mut Chance) -> String {
        let mut text = |all: &[&'static str]| quoted(chance.word(all));
        match kind {
            Kind::Line | Kind::Message => text(LINES),
            Kind::Email => {
                let number = chance.below(60);
                if number < 50 { format!("\"u{number}@example.com\"") } else { quoted(chance.word(EMAILS)) }
            }
            Kind::Domain => self.domain(chance),
            Kind::Url => text(URLS),
            Kind::Rate => chance.word(RATES).to_owned(),
            Kind::Points => (1 + chance.below(11)).to_string(),
            Kind::Flag => chance.word(&["true", "true", "false"]).to_owned(),
            Kind::Birthday => text(DAYS),
            Kind::Date => text(DATES),
            Kind::Country => text(COUNTRIES),
            Kind::Groups => text(GROUPS),
            Kind::Certificate => self.certificate.clone(),
            Kind::SenderType => text(&["user", "company"]),
            Kind::WalletType => chance.word(WALLETS).to_owned(),
            Kind::PageNumber => chance.word(PAGES).to_owned(),
            Kind::Company
            | Kind::Corporation
            | Kind::Occasion
            | Kind::User
            | Kind::Sender
            | Kind::Receivers => unreachable!("{kind:?} names objects"),
        }
    }

    fn domain(&mut self, chance: &mut Chance) -> String {
        self.domains += usize::from(chance.percent(85));
        let number = self.domains;
        let shape = ["d{}.example.com", "D{}.Example.COM", "bücher{}.example", "xn--bcher-kva{}.example.org"];
        quoted(&chance.word(&shape).replace("{}", &number.to_string()))
    }

    /// A value that is probably invalid.
    pub fn nasty(&mut self, kind: Kind, chance: &mut Chance) -> String {
        if kind == Kind::WalletType {
            return chance.word(NASTY_WALLETS).to_owned();
        }
        if kind == Kind::PageNumber {
            return chance.word(NASTY_PAGES).to_owned();
        }
        if chance.percent(40) {
            return chance.word(WRONG_TYPES).to_owned();
        }
        let seldom = chance.percent(20);
        let mut text = |all: &[&'static str]| quoted(chance.word(all));
        match kind {
            Kind::Message | Kind::Line => self.nasty_text(kind, chance),
            Kind::Email if seldom => {
                let number = chance.below(10);
                (*chance.one_of(&[format!("\"U{number}@EXAMPLE.com\""), long("a@x.", 300, "com")])).clone()
            }
            Kind::Email => text(NASTY_EMAILS),
            Kind::Domain => text(NASTY_DOMAINS),
            Kind::Url if seldom => long("https://example.com/", 2048, ""),
            Kind::Url => text(NASTY_URLS),
            Kind::Rate => chance.word(NASTY_RATES).to_owned(),
            Kind::Points => chance.word(NUMBERS).to_owned(),
            Kind::Flag => chance.word(&["\"true\"", "0", "null"]).to_owned(),
            Kind::Birthday => text(NASTY_DAYS),
            Kind::Date => text(NASTY_DATES),
            Kind::Country => text(NASTY_COUNTRIES),
            Kind::Groups => self.nasty_text(kind, chance),
            Kind::Certificate => {
                let begin = "-----BEGIN CERTIFICATE-----";
                let broken = format!("\"{begin}\\nAAAA\\n-----END CERTIFICATE-----\\n\"");
                let doubled = self.certificate.replace("\\n\"", &format!("\\n{begin}\""));
                (*chance.one_of(&[broken, doubled, long(begin, 70_000, "")])).clone()
            }
            Kind::SenderType => text(&["User", "reserve", "users"]),
            _ => {
                text(&["x", "0193a5c0-0000-7000-8000-00000000000", "{0193a5c0-0000-7000-8000-000000000001}"])
            }
        }
    }

    /// Strings close to their length limits, and strings with characters that no field accepts.
    fn nasty_text(&self, kind: Kind, chance: &mut Chance) -> String {
        let limit = match kind {
            Kind::Message => 10_000,
            Kind::Groups => 4_096,
            _ => 255,
        };
        match chance.below(6) {
            0 => long("", limit, ""),
            1 => long("x", limit, ""),
            2 => quoted(&"🛠".repeat(limit)),
            3 => quoted(&format!("{}é", "漢".repeat(limit))),
            _ => chance.word(NASTY_LINES).to_owned(),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

fn long(start: &str, middle: usize, end: &str) -> String {
    quoted(&format!("{start}{}{end}", "x".repeat(middle)))
}

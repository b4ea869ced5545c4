//! Values at the limits of their rules are accepted and returned byte for byte, except domains, countries and groups
//! (behaviour 8.6, 8.9, 8.10).

use serde_json::{Value, json};

use super::endpoints::{Endpoint, EndpointField, FieldKind, UnsetEffect};
use super::values::{domain_of_length, email_of_length, json_string, url_of_length};
use super::{InputFixture, for_each_input_fixture};

/// Strings that often cause errors in programs.
const UNUSUAL_STRINGS: &[&str] = &[
    "plain",
    " blank before and behind ",
    "a  b",
    "日本語のテキスト",
    "🎉👩‍👩‍👧‍👦🇩🇪",
    "مرحبا \u{200f}שלום\u{202e}",
    "e\u{301} is not \u{e9}",
    "\u{feff}bom",
    "\u{10ffff}\u{fffe}\u{fffd}\u{e000}",
    "a\u{200b}b\u{2028}c\u{2029}d\u{ad}",
    "ﬃ Ǆ ß İ ı ſ K",
    "Z\u{351}\u{36b}\u{343}\u{36a}\u{302}a\u{35b}",
    "' OR '1'='1' -- ",
    "\"; DROP TABLE users; --",
    "100% _like_ [a-z]* ? \\",
    "%s %n %x {} {0} {{7*7}} ${jndi:ldap://example.com/a} #{1+1} <%= 1 %>",
    "<script>alert(1)</script> &amp; &#0; <!-- -->",
    "\\u0000 \\x00 %00 \\n",
    "../../etc/passwd",
    "$(id) `id` | ; & > <",
    "null",
    "=1+1",
    "{\"a\":[1]}",
    "\u{1F600}\u{0300}",
];

impl FieldKind {
    /// Valid values of a field of this kind, each with the value that is returned. Email addresses begin with the tag.
    fn accepted_values(self, tag: char) -> Vec<(Value, Value)> {
        let same = |all: Vec<String>| all.into_iter().map(|value| (json!(value), json!(value))).collect();
        let odd = |more: Vec<String>| {
            same(UNUSUAL_STRINGS.iter().map(|text| (*text).to_owned()).chain(more).collect())
        };
        let as_shown =
            |all: &[(&str, &str)]| all.iter().map(|(sent, shown)| (json!(sent), json!(shown))).collect();
        let repeated = |max: usize| ["x", "é", "🎉"].map(|character| character.repeat(max)).to_vec();
        match self {
            Self::Line => odd(repeated(255)),
            Self::EntityId => odd(repeated(1_024)),
            Self::Message => {
                odd([repeated(10_000), vec!["a\nb\tc\r\nd\n".into(), "\n\n.\n".into()]].concat())
            }
            Self::Email => same(accepted_emails(tag)),
            Self::Url => same(accepted_urls()),
            Self::Domain => accepted_domains(),
            Self::Country => as_shown(COUNTRIES),
            Self::Birthday => same(to_strings(&["02/29", "01/01", "12/31", "04/30"])),
            Self::Date => {
                same(to_strings(&["02/29/2020", "02/29/2000", "01/01/1970", "12/31/1899", "12/31/9999"]))
            }
            Self::Groups => as_shown(GROUPS).into_iter().chain(same(repeated(4_096))).collect(),
            Self::Rate => [1, 7, 50, 10_000].map(|rate| (json!(rate), json!(rate))).to_vec(),
            Self::Alert => [0, 1, 2_147_483_648, 9_007_199_254_740_993_i64]
                .map(|threshold| (json!(threshold), json!(threshold)))
                .to_vec(),
            Self::Flag => [false, true].map(|flag| (json!(flag), json!(flag))).to_vec(),
            Self::Id | Self::Certificate | Self::Receivers | Self::SenderType | Self::Points => vec![],
        }
    }
}

const COUNTRIES: &[(&str, &str)] =
    &[("DE", "DE"), ("de", "DE"), ("dE", "DE"), ("DEU", "DEU"), ("deu", "DEU"), ("gb", "GB"), ("SSD", "SSD")];
const GROUPS: &[(&str, &str)] = &[
    ("a", "a"),
    ("a,b", "a,b"),
    (" a , b ,, a,c, ", "a,b,c"),
    ("b,a,B", "b,a,B"),
    ("two words,' OR 1=1 --", "two words,' OR 1=1 --"),
    ("é,e\u{301},🎉", "é,e\u{301},🎉"),
];

fn to_strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|value| (*value).to_owned()).collect()
}

fn accepted_emails(tag: char) -> Vec<String> {
    let odd = [
        "@b.co",
        "UPPER@Example.COM",
        "+tag@example.com",
        "o'brien@example.com",
        ".b.c@sub.example.com",
        "1@example.com",
        "!#$%&'*+-/=?^_`{|}~@example.com",
        "@xn--bcher-kva.example",
        &email_of_length(254)[1..],
    ];
    odd.map(|rest| format!("{tag}{rest}")).to_vec()
}

fn accepted_urls() -> Vec<String> {
    let odd = [
        "http://example.com",
        "https://example.com",
        "HTTPS://EXAMPLE.com/X",
        "https://example.com:443/",
        "https://example.com:8443/x",
        "https://example.com/a/../b/./c//d",
        "https://example.com/%7e%41?x=%2f&y='1#z",
        "https://192.0.2.1/x",
        "https://[2001:db8::1]:8443/x",
        "https://example.com/?a=b@c:d",
        "https://example.com?x=1",
        "http://localhost/x",
        "https://example.com/<b>\"|{}",
    ];
    to_strings(&odd).into_iter().chain([url_of_length(2_048)]).collect()
}

fn accepted_domains() -> Vec<(Value, Value)> {
    let long = domain_of_length(253);
    [
        ("Upper.Example.COM", "upper.example.com"),
        ("bücher.example.com", "xn--bcher-kva.example.com"),
        ("XN--Strae-OQA.example.com", "xn--strae-oqa.example.com"),
        ("日本.example.com", "xn--wgv71a.example.com"),
        ("b.co", "b.co"),
        ("1.2.3.4.example.com", "1.2.3.4.example.com"),
        ("a--b.example.com", "a--b.example.com"),
        (&long, &long),
    ]
    .map(|(sent, shown)| (json!(sent), json!(shown)))
    .to_vec()
}

/// Sends valid values, one per field. The response and the object must contain them.
fn assert_accepted(fixture: &InputFixture<'_>, endpoint: &Endpoint, values: &[(&str, &(Value, Value))]) {
    let mut body = endpoint.valid_body();
    for (name, (sent, _)) in values {
        body[*name] = sent.clone();
    }
    let response = fixture.send_to_endpoint(endpoint, &body.to_string());
    let what = format!("{} {} {body}", endpoint.method, endpoint.path);
    assert_eq!(response.status, endpoint.success_status(), "{what}: {}", response.body);
    assert_eq!(response.header("x-ignored-fields"), None, "{what}");
    let returned = response.json();
    let returned = returned.get("recognitions").map_or(&returned, |recognitions| &recognitions[0]);
    let object = fetch_object(fixture, endpoint, returned);
    for (name, (_, shown)) in values {
        if let Some(value) = returned.get(*name) {
            assert_eq!(value, shown, "{name} of {what}");
        }
        match object.get(*name) {
            Some(value) => assert_eq!(value, shown, "{name} of {what} when fetched"),
            None => assert!(matches!(*name, "logo_url" | "idp_certificate"), "{name}: {object}"),
        }
    }
}

/// Fetches the object that the response shows.
fn fetch_object(fixture: &InputFixture<'_>, endpoint: &Endpoint, returned: &Value) -> Value {
    let id = || returned["id"].as_str().unwrap();
    match (endpoint.method, endpoint.path.as_str()) {
        ("PUT", path) => fixture.get(path).json(),
        (_, "/v1/recognitions") => {
            let path = format!("/v1/users/{}/recognitions_received?per_page=1", fixture.sample.users[2]);
            let newest = fixture.get(&path).json()["results"][0].clone();
            assert_eq!(newest["id"], id());
            newest
        }
        (_, path) => fixture.get(&format!("{path}/{}", id())).json(),
    }
}

#[test]
fn valid_values_are_returned_as_sent() {
    for_each_input_fixture(|fixture| {
        for (endpoint, tag) in fixture.endpoints().iter().zip('a'..) {
            let fields = endpoint.fields.iter().filter(|field| !is_immutable(endpoint, field));
            let all: Vec<(&str, Vec<(Value, Value)>)> =
                fields.map(|field| (field.name, field.kind.accepted_values(tag))).collect();
            for round in 0..all.iter().map(|(_, values)| values.len()).max().unwrap() {
                let values: Vec<(&str, &(Value, Value))> =
                    all.iter().filter_map(|(name, values)| Some((*name, values.get(round)?))).collect();
                assert_accepted(fixture, endpoint, &values);
            }
        }
    });
}

fn is_immutable(endpoint: &Endpoint, field: &EndpointField) -> bool {
    endpoint.method == "PUT" && matches!(field.name, "domain" | "company_id")
}

#[test]
fn null_and_blank_unset_optional_fields() {
    for_each_input_fixture(|fixture| {
        for endpoint in fixture.endpoints() {
            for field in endpoint
                .fields
                .iter()
                .filter(|field| matches!(field.unset, UnsetEffect::Default | UnsetEffect::Cleared))
            {
                let unset = default(fixture, field.name);
                if field.unset == UnsetEffect::Default {
                    let mut body = endpoint.valid_body();
                    body.as_object_mut().unwrap().remove(field.name);
                    let response = fixture.send_to_endpoint(&endpoint, &body.to_string());
                    assert_eq!(response.status, 201, "{} {}: {}", endpoint.path, field.name, response.body);
                    assert_unset(fixture, &endpoint, field, &response.json(), &unset);
                }
                let blanks: &[&str] = if field.kind.is_text() { &["null", "\"\""] } else { &["null"] };
                for blank in blanks {
                    let response =
                        fixture.send_to_endpoint(&endpoint, &endpoint.body_with_field(field.name, blank));
                    let what = format!("{} {} {} {blank}", endpoint.method, endpoint.path, field.name);
                    assert_eq!(response.status, endpoint.success_status(), "{what}: {}", response.body);
                    assert_unset(fixture, &endpoint, field, &response.json(), &unset);
                }
            }
        }
    });
}

fn assert_unset(
    fixture: &InputFixture<'_>,
    endpoint: &Endpoint,
    field: &EndpointField,
    returned: &Value,
    unset: &Value,
) {
    let returned = returned.get("recognitions").map_or(returned, |recognitions| &recognitions[0]);
    let object = fetch_object(fixture, endpoint, returned);
    if let Some(value) = object.get(field.name) {
        assert_eq!(value, unset, "{} {} {}", endpoint.method, endpoint.path, field.name);
    }
}

/// The value that is returned for an unset field.
fn default(fixture: &InputFixture<'_>, field: &str) -> Value {
    match field {
        "points_per_dollar" => json!(50),
        "enabled" | "visible" | "share" => json!(true),
        "manager" | "company_admin" | "corporation_admin" => json!(false),
        "message" => {
            let occasion = format!("/v1/occasions/{}", fixture.sample.occasion);
            fixture.get(&occasion).json()["default_message"].clone()
        }
        _ => Value::Null,
    }
}

#[test]
fn a_blank_message_uses_the_occasions_default() {
    for_each_input_fixture(|fixture| {
        let default = default(fixture, "message");
        for endpoint in fixture.endpoints().iter().filter(|endpoint| endpoint.path == "/v1/recognitions") {
            for blank in [" ", "\n", "\t \r\n", "\u{2003}"] {
                let response = fixture
                    .send_to_endpoint(endpoint, &endpoint.body_with_field("message", &json_string(blank)));
                assert_eq!(response.json()["recognitions"][0]["message"], default, "{blank:?}");
            }
            let kept = fixture
                .send_to_endpoint(endpoint, &endpoint.body_with_field("message", &json_string(" x ")))
                .json();
            assert_eq!(kept["recognitions"][0]["message"], " x ");
        }
    });
}

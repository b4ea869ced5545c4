//! A walk through the whole provider API. Snapshots hold the status and the whole body of each response, and the
//! headers that depend on the request; the code asserts the rules. CONTRIBUTING.md explains how to change a snapshot.
//!
//! Ids are written as placeholders, also in requests: `@1` is the first id that occurs in a response.
//!
//! | | | | |
//! |---|---|---|---|
//! | `@1` | Example Group, a corporation | `@8` | the company Plain, outside any corporation |
//! | `@2` | the company Example, in it | `@9` | Cher, owner of Plain |
//! | `@3` | Olive, its owner at first | `@10` | a recognition: Ann to Bob, private |
//! | `@4` | Ann | `@11` `@12` | two: the company to Bob and Ann |
//! | `@5` | Bob, a manager | `@13` | one: Bob to Ann, from his manager wallet |
//! | `@6` | Great job, an occasion | `@14` | Ann's namesake, owner after her |
//! | `@7` | Birthday, a global occasion | `@15` | Eve, owner after that |

mod creation;
mod deletions;
mod lists;
mod ownership;
mod page_limits;
mod points;
mod saml;
mod transfer;
mod updates;

use std::cell::RefCell;

use guerdon_test_support::record_skip;
use serde_json::Value;

use crate::differential::service_pair::format_response;
use crate::support::body_normalizer::BodyNormalizer;
use crate::support::for_each_database_with;
use crate::support::service::{ApiResponse, ProviderCredentials, TestService, basic_authorization};

type Chapter = fn(&mut Walk<'_>);

/// The parts of the walk. Each has one snapshot of its responses, which must match on every database.
const CHAPTERS: [(&str, Chapter); 10] = [
    ("creation", creation::create_objects),
    ("points", points::check_points),
    ("lists", lists::check_lists),
    ("updates", updates::check_updates),
    ("rate", points::change_rate),
    ("manager", updates::make_manager),
    ("ownership", ownership::check_ownership),
    ("deletions", deletions::check_deletions),
    ("saml", saml::check_saml),
    ("transfer", transfer::check_transfer),
];

/// Response headers that depend on the request. `transport.rs` checks the others.
const RECORDED_HEADERS: [&str; 4] = ["link", "location", "warning", "x-ignored-fields"];

/// Personal data and parts of keys in the bodies of the walk's requests, in lower case.
const PRIVATE_TEXT: [&str; 9] = [
    "@example.",
    "olive",
    "dyke",
    "köln",
    "engineer",
    "02/29",
    "well done",
    "begin certificate",
    "begin private key",
];

/// Both databases give the same responses: status, headers and body. Nothing private that a request contains is logged,
/// even at level `debug`.
#[test]
fn a_walk_through_the_whole_api() {
    let transcripts = RefCell::new(Vec::new());
    for_each_database_with(&[("GUERDON_LOG__LEVEL", "debug")], |service| {
        transcripts.borrow_mut().push(run_walk(service));
    });
    let transcripts = transcripts.into_inner();
    for transcript in &transcripts {
        assert!(transcript.len() > 300, "{}", transcript.len());
    }
    if transcripts.len() < 2 {
        record_skip("it compares the two databases, and this run covers one");
    }
    if let [sqlite, postgres] = &transcripts[..] {
        for (left, right) in sqlite.iter().zip(postgres) {
            assert_eq!(left, right, "SQLite left, PostgreSQL right");
        }
        assert_eq!(sqlite.len(), postgres.len());
    }
}

#[test]
fn every_snapshot_belongs_to_a_chapter() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".snap"));
    names.sort();
    let mut expected = CHAPTERS.map(|(name, _)| format!("e2e__walk__{name}.snap"));
    expected.sort();
    assert_eq!(names, expected);
}

/// Runs the walk. Returns all requests with their responses.
fn run_walk(service: &TestService) -> Vec<String> {
    let mut walk = Walk::start(service);
    for (name, run_chapter) in CHAPTERS {
        run_chapter(&mut walk);
        insta::assert_snapshot!(name, std::mem::take(&mut walk.chapter));
    }
    assert_nothing_private_is_logged(&walk);
    walk.transcript.into_inner().1
}

fn assert_nothing_private_is_logged(walk: &Walk<'_>) {
    walk.service.get_with_id(&walk.provider, "/v1/companies", "end-of-the-walk");
    walk.service.wait_for_log("end-of-the-walk");
    let log = walk.service.running.read_log().to_lowercase();
    let bodies = walk.bodies.borrow();
    for text in PRIVATE_TEXT {
        assert!(bodies.contains(text), "no request of the walk contains {text}");
        assert_eq!(log.lines().find(|line| line.contains(text)), None, "{text}");
    }
    let authorization = basic_authorization(&walk.provider);
    let (_, credentials) = authorization.split_once(' ').unwrap();
    for secret in [&walk.provider.api_secret, &walk.shared_secret, credentials] {
        assert!(!log.contains(&secret.to_lowercase()), "a secret is logged");
    }
}

/// One provider's requests to the service.
struct Walk<'a> {
    service: &'a TestService,
    provider: ProviderCredentials,
    shared_secret: String,
    normalizer: BodyNormalizer,
    /// The requests and responses of the current chapter, for its snapshot.
    chapter: String,
    /// Each request and its whole response, and the normalizer for their placeholders.
    transcript: RefCell<(BodyNormalizer, Vec<String>)>,
    /// The bodies of all requests, in lower case.
    bodies: RefCell<String>,
}

impl<'a> Walk<'a> {
    fn start(service: &'a TestService) -> Self {
        let (provider, shared_secret) =
            service.register_provider("Acme", &["--manages-all-domain-resources"]);
        Self {
            service,
            provider,
            shared_secret,
            normalizer: BodyNormalizer::default(),
            chapter: String::new(),
            transcript: RefCell::default(),
            bodies: RefCell::default(),
        }
    }

    /// Returns the id for which the placeholder with this number stands.
    fn id_at(&self, number: usize) -> String {
        self.normalizer.id_at(number).to_owned()
    }

    /// Replaces the placeholders in a string with ids.
    fn with_ids(&self, text: &str) -> String {
        self.normalizer.expand_placeholders(text)
    }

    fn send_request(&self, method: &str, path: &str, body: Option<&str>) -> ApiResponse {
        let authorization = basic_authorization(&self.provider);
        let mut headers = vec![("Authorization", authorization.as_str())];
        if body.is_some() {
            headers.push(("Content-Type", "application/json"));
        }
        let body = body.map(|body| self.with_ids(body));
        self.bodies.borrow_mut().push_str(&body.as_deref().unwrap_or_default().to_lowercase());
        let response =
            self.service.running.send_request(method, &self.with_ids(path), &headers, body.as_deref());
        let (normalizer, lines) = &mut *self.transcript.borrow_mut();
        let request = normalizer.normalize_body(&format!("{method} {}", path.to_lowercase()));
        lines.push(format!("{request}: {}", format_response(&response, normalizer)));
        response
    }

    /// Sends a request whose response must have this status and match the snapshot.
    fn record_response(&mut self, method: &str, path: &str, body: Option<&str>, status: u16) -> ApiResponse {
        let response = self.send_request(method, path, body);
        assert_eq!(response.status, status, "{method} {path}: {}", response.body);
        let mut lines = vec![format!("{method} {}", self.with_ids(path).to_lowercase()), status.to_string()];
        let header = |name| Some(format!("{name}: {}", response.header(name)?));
        lines.extend(RECORDED_HEADERS.into_iter().filter_map(header));
        lines.extend((!response.body.is_empty()).then(|| wrap_json(&response.body)));
        let text = self.normalizer.normalize_body(&lines.join("\n"));
        self.chapter.push_str(&text);
        self.chapter.push_str("\n\n");
        response
    }

    fn get(&mut self, path: &str) -> ApiResponse {
        self.record_response("GET", path, None, 200)
    }

    fn post(&mut self, path: &str, body: &str) -> ApiResponse {
        self.record_response("POST", path, Some(body), 201)
    }

    fn put(&mut self, path: &str, body: &str) -> ApiResponse {
        self.record_response("PUT", path, Some(body), 200)
    }

    fn delete(&mut self, path: &str) {
        self.record_response("DELETE", path, None, 204);
    }

    /// Sends a request that must be rejected with this message.
    fn assert_refused(&self, method: &str, path: &str, body: Option<&str>, status: u16, message: &str) {
        let actual = self.send_request(method, path, body).expect_error(status);
        assert_eq!(actual, self.with_ids(message), "{method} {path} {body:?}");
    }

    /// The current response to a GET.
    fn read_json(&self, path: &str) -> Value {
        let response = self.send_request("GET", path, None);
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        response.json()
    }

    /// Sends a PUT that must succeed and leave the object unchanged, including its `updated_at`.
    fn put_unchanged(&self, path: &str, body: &str) -> ApiResponse {
        let before = self.read_json(path);
        let response = self.send_request("PUT", path, Some(body));
        assert_eq!(response.status, 200, "{path} {body}: {}", response.body);
        assert_eq!(response.json()["updated_at"], before["updated_at"], "{path} {body}");
        assert_eq!(self.read_json(path), before, "{path} {body}");
        response
    }

    /// Writes the read values back (behaviour 7.2). Returns the ignored fields.
    fn write_back(&self, path: &str) -> Vec<String> {
        let response = self.put_unchanged(path, &self.read_json(path).to_string());
        let ignored = response.header("x-ignored-fields").unwrap_or_default();
        let mut ignored: Vec<String> = ignored.split(", ").map(str::to_owned).collect();
        ignored.sort();
        ignored
    }

    /// Sends a PUT that must succeed and change `updated_at`.
    fn put_changed(&mut self, path: &str, body: &str) {
        let before = self.read_json(path)["updated_at"].as_str().unwrap().to_owned();
        let response = self.put(path, body);
        assert!(response.json()["updated_at"].as_str().unwrap() > before.as_str(), "{path} {body}");
    }

    fn run_command(&self, words: &[&str]) -> Value {
        let words: Vec<String> = words.iter().map(|word| self.with_ids(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.service.run_json_command(&words)
    }

    fn reserve_points(&self) -> i64 {
        self.run_command(&["reserve", "show", "@2"])["points"].as_i64().unwrap()
    }
}

/// Starts a line for each field and each object, so that a changed snapshot shows what changed. The body is not parsed,
/// because the snapshot must keep the order of the fields and the exact form of the values.
fn wrap_json(body: &str) -> String {
    body.replace(",\"", ",\n  \"").replace("},{", "},\n{").replace("[{", "[\n{")
}

/// Replaces a part of a string. The part must occur in the string.
fn replace_part(text: &str, part: &str, other: &str) -> String {
    assert!(text.contains(part), "{part} is not in {text}");
    text.replace(part, other)
}

//! A walk through the whole provider API that checks the status and the whole body of each response, and the responses
//! that follow.
//!
//! Ids are written as the scribe names them, in requests too: `@1` is the first id in any response.
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

mod deletions;
mod lists;
mod making;
mod maxima;
mod ownership;
mod points;
mod saml;
mod transfer;
mod updates;

use std::cell::RefCell;

use serde_json::Value;

use crate::differential::twin::told;
use crate::support::on_each;
use crate::support::scribe::Scribe;
use crate::support::service::{Answer, Provider, Service, basic};

#[test]
fn a_walk_through_the_whole_api() {
    on_each(|service| drop(go(service)));
}

/// Runs the walk. Returns all requests with their responses.
pub fn go(service: &Service) -> Vec<String> {
    let mut walk = Walk::start(service);
    making::run(&mut walk);
    points::run(&mut walk);
    lists::run(&mut walk);
    updates::run(&mut walk);
    points::rate_change(&mut walk);
    updates::manager(&mut walk);
    ownership::run(&mut walk);
    deletions::run(&mut walk);
    saml::run(&mut walk);
    transfer::run(&mut walk);
    walk.transcript.into_inner().1
}

/// One provider's requests to the service.
struct Walk<'a> {
    service: &'a Service,
    provider: Provider,
    scribe: Scribe,
    /// Each request with its whole response, written with a separate scribe.
    transcript: RefCell<(Scribe, Vec<String>)>,
}

impl<'a> Walk<'a> {
    fn start(service: &'a Service) -> Self {
        let (provider, scribe) = (service.provider("Acme", true), Scribe::default());
        Self { service, provider, scribe, transcript: RefCell::default() }
    }

    /// The id with a name such as `@1`.
    fn id(&self, number: usize) -> String {
        self.scribe.id(number).to_owned()
    }

    /// The string with its names replaced by ids.
    fn with_ids(&self, text: &str) -> String {
        self.scribe.expand(text)
    }

    fn send(&self, method: &str, path: &str, body: Option<&str>) -> Answer {
        let authorization = basic(&self.provider);
        let mut headers = vec![("Authorization", authorization.as_str())];
        if body.is_some() {
            headers.push(("Content-Type", "application/json"));
        }
        let body = body.map(|body| self.with_ids(body));
        let answer = self.service.running.request(method, &self.with_ids(path), &headers, body.as_deref());
        let (scribe, lines) = &mut *self.transcript.borrow_mut();
        let asked = scribe.write(&format!("{method} {}", path.to_lowercase()));
        lines.push(format!("{asked}: {}", told(&answer, scribe)));
        answer
    }

    /// Sends a request whose response must match exactly.
    fn ask(&mut self, method: &str, path: &str, body: Option<&str>, status: u16, expected: &str) -> Answer {
        let answer = self.send(method, path, body);
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        let expected: String = expected.lines().map(str::trim_start).collect();
        assert_eq!(self.scribe.write(&answer.body), expected, "{method} {path}");
        answer
    }

    fn get(&mut self, path: &str, expected: &str) -> Answer {
        self.ask("GET", path, None, 200, expected)
    }

    fn post(&mut self, path: &str, body: &str, expected: &str) -> Answer {
        self.ask("POST", path, Some(body), 201, expected)
    }

    fn put(&mut self, path: &str, body: &str, expected: &str) -> Answer {
        self.ask("PUT", path, Some(body), 200, expected)
    }

    fn delete(&mut self, path: &str) {
        self.ask("DELETE", path, None, 204, "");
    }

    /// Sends a request that must be rejected with this message.
    fn refused(&self, method: &str, path: &str, body: Option<&str>, status: u16, message: &str) {
        let told = self.send(method, path, body).error(status);
        assert_eq!(told, self.with_ids(message), "{method} {path} {body:?}");
    }

    /// The current response to a GET.
    fn read(&self, path: &str) -> Value {
        let answer = self.send("GET", path, None);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    /// A PUT that must succeed and leave the object unchanged, including its `updated_at`.
    fn changes_nothing(&self, path: &str, body: &str) -> Answer {
        let before = self.read(path);
        let answer = self.send("PUT", path, Some(body));
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.body);
        assert_eq!(answer.json()["updated_at"], before["updated_at"], "{path} {body}");
        assert_eq!(self.read(path), before, "{path} {body}");
        answer
    }

    /// Writes the read values back (behaviour 7.2). Returns the ignored fields.
    fn round_trip(&self, path: &str) -> Vec<String> {
        let answer = self.changes_nothing(path, &self.read(path).to_string());
        let ignored = answer.header("x-ignored-fields").unwrap_or_default();
        let mut ignored: Vec<String> = ignored.split(", ").map(str::to_owned).collect();
        ignored.sort();
        ignored
    }

    /// A PUT that must change `updated_at`.
    fn changes(&mut self, path: &str, body: &str, expected: &str) {
        let before = self.read(path)["updated_at"].as_str().unwrap().to_owned();
        let answer = self.put(path, body, expected);
        assert!(answer.json()["updated_at"].as_str().unwrap() > before.as_str(), "{path} {body}");
    }

    fn guerdon(&self, words: &[&str]) -> Value {
        let words: Vec<String> = words.iter().map(|word| self.with_ids(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.service.json(&words)
    }

    fn reserve(&self) -> i64 {
        self.guerdon(&["reserve", "show", "@2"])["points"].as_i64().unwrap()
    }
}

/// The string with one part, which must occur in it, replaced.
fn with(text: &str, part: &str, other: &str) -> String {
    assert!(text.contains(part), "{part} is not in {text}");
    text.replace(part, other)
}

//! Generates requests to every endpoint about objects that exist, are deleted, are foreign or never existed.

use serde_json::Value;

use super::chance::Chance;
use super::operations::{Field, OPERATIONS, Operation};
use super::request::{Agreed, Request, object};
use super::values::{Kind, Values};

const ABSENT: &str = "0193a5c0-0000-7000-8000-000000000001";
const GARBAGE: &[&str] = &["", "{", "[]", "null", "{} {}", "\u{feff}{}", "{\"name\":\"\\ud800\"}", "{'a':1}"];

/// Generates requests, and learns from the responses which objects exist.
pub struct Generator {
    chance: Chance,
    values: Values,
    companies: Vec<Company>,
    /// Corporations with their providers.
    corporations: Vec<(usize, String)>,
    globals: Vec<String>,
    keyed: Vec<Request>,
}

/// The known objects of a company, so that some requests are valid.
struct Company {
    by: usize,
    id: String,
    occasions: Vec<String>,
    users: Vec<String>,
    deleted: Vec<String>,
    deleted_occasions: Vec<String>,
}

/// How the field values of a body are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Good,
    OneNasty,
    Wild,
}

impl Generator {
    pub fn new(chance: Chance) -> Self {
        let (companies, corporations, globals, keyed) = (vec![], vec![], vec![], vec![]);
        Self { chance, values: Values::new(), companies, corporations, globals, keyed }
    }

    pub fn companies(&self) -> Vec<String> {
        self.companies.iter().map(|company| company.id.clone()).collect()
    }

    /// All users with their providers.
    pub fn users(&self) -> Vec<(usize, String)> {
        let users = self
            .companies
            .iter()
            .flat_map(|company| company.users.iter().chain(&company.deleted).map(|id| (company.by, id)));
        users.map(|(by, id)| (by, id.clone())).collect()
    }

    /// Records the objects in a response.
    pub fn learn(&mut self, request: &Request, answer: &Agreed) {
        let json = serde_json::from_str::<Value>(&answer.body).unwrap_or_default();
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let path = request.path.split('?').next().unwrap();
        match (request.method, path, answer.status) {
            ("POST", "/v1/corporations", 201) => self.corporations.push((request.by, text("id"))),
            ("POST", "/v1/companies", 201) => {
                let (by, id, users) = (request.by, text("id"), vec![text("owner_id")]);
                let (occasions, deleted, deleted_occasions) = (vec![], vec![], vec![]);
                self.companies.push(Company { by, id, occasions, users, deleted, deleted_occasions });
            }
            ("POST", "/v1/occasions", 201) => self.company(&text("company_id")).occasions.push(text("id")),
            ("POST", "/v1/users", 201) => self.company(&text("company_id")).users.push(text("id")),
            ("PUT", _, 200) if !text("owner_id").is_empty() => {
                let (users, owner) = (&mut self.company(&text("id")).users, text("owner_id"));
                if !users.contains(&owner) {
                    users.push(owner);
                }
            }
            ("DELETE", _, 204) => {
                for company in &mut self.companies {
                    let is_it = |id: &mut String| path.ends_with(id.as_str());
                    company.deleted.extend(company.users.extract_if(.., is_it));
                    company.deleted_occasions.extend(company.occasions.extract_if(.., is_it));
                }
            }
            ("GET", _, 200) => {
                for found in json["results"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|occasion| occasion["global"] == true)
                {
                    let id = found["id"].as_str().unwrap().to_owned();
                    if !self.globals.contains(&id) {
                        self.globals.push(id);
                    }
                }
            }
            _ => (),
        }
    }

    fn company(&mut self, id: &str) -> &mut Company {
        self.companies.iter_mut().find(|company| company.id == id).unwrap()
    }

    pub fn next(&mut self) -> Request {
        if self.chance.percent(3) && !self.keyed.is_empty() {
            return self.chance.one_of(&self.keyed).clone();
        }
        let operation = self.operation();
        let theme = if self.chance.percent(70) { 0 } else { self.chance.below(self.companies.len()) };
        let own = self.companies[theme].by;
        let by = if self.chance.percent(88) { own } else { *self.chance.one_of(&[0, 1, 2]) };
        let path = self.path(operation, theme) + &self.query(operation, theme);
        let body = (!operation.fields.is_empty()).then(|| self.body(operation, theme));
        let method = match operation.method {
            "GET" if self.chance.percent(4) => "HEAD",
            _ if self.chance.percent(1) => "PATCH",
            method => method,
        };
        let request = Request { by, method, path, headers: self.headers(method, body.is_some()), body };
        if request.headers.iter().any(|(name, _)| *name == "Idempotency-Key") {
            self.keyed.push(request.clone());
        }
        request
    }

    fn operation(&mut self) -> &'static Operation {
        let mut at = self.chance.below(OPERATIONS.iter().map(|operation| operation.weight).sum());
        for operation in OPERATIONS {
            match at.checked_sub(operation.weight) {
                Some(rest) => at = rest,
                None => return operation,
            }
        }
        unreachable!("the weights add up")
    }

    fn headers(&mut self, method: &str, has_body: bool) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if has_body {
            let kind = if self.chance.percent(1) { "text/plain" } else { "application/json" };
            headers.push(("Content-Type", kind.to_owned()));
        }
        if method == "POST" && self.chance.percent(10) {
            let key = self.chance.below(40);
            headers.push(("Idempotency-Key", if key == 0 { "k".repeat(256) } else { format!("key-{key}") }));
        }
        headers
    }

    fn path(&mut self, operation: &Operation, theme: usize) -> String {
        let kinds = [
            ("{company}", Kind::Company),
            ("{corporation}", Kind::Corporation),
            ("{occasion}", Kind::Occasion),
            ("{user}", Kind::User),
        ];
        let Some((name, kind)) = kinds.into_iter().find(|(name, _)| operation.path.contains(name)) else {
            return operation.path.to_owned();
        };
        let id = match self.chance.below(100) {
            0..4 => self.chance.word(&["x", "%00", "..%2fusers", "%7B@1%7D", "@1%20", "%C3"]).to_owned(),
            4..8 => self.chance.word(&["first0.example.com", "FIRST1.example.com", "no.example"]).to_owned(),
            _ => self.id(kind, theme),
        };
        operation.path.replace(name, &id)
    }

    /// The name of an object. Occasionally the name of another kind of object, of another company's or of none.
    fn id(&mut self, kind: Kind, theme: usize) -> String {
        let strange = self.chance.below(100);
        let all = [Kind::Company, Kind::Corporation, Kind::Occasion, Kind::User];
        let kind = if strange < 2 { *self.chance.one_of(&all) } else { kind };
        let theme = if strange > 95 { self.chance.below(self.companies.len()) } else { theme };
        let company = &self.companies[theme];
        let known = match kind {
            _ if strange == 50 => return ABSENT.to_owned(),
            Kind::Company => return company.id.clone(),
            Kind::Corporation => {
                let own = self.corporations.iter().filter(|(by, _)| *by == company.by || strange == 51);
                let own: Vec<&String> = own.map(|(_, id)| id).collect();
                return own[self.chance.below(own.len())].clone();
            }
            Kind::Occasion if strange < 8 && !company.deleted_occasions.is_empty() => {
                &company.deleted_occasions
            }
            Kind::Occasion if strange > 85 || company.occasions.is_empty() => &self.globals,
            Kind::Occasion => &company.occasions,
            _ if strange < 5 && !company.deleted.is_empty() || company.users.is_empty() => &company.deleted,
            _ => &company.users,
        };
        self.chance.one_of(known).clone()
    }

    fn query(&mut self, operation: &Operation, theme: usize) -> String {
        let mut parts = Vec::new();
        for (name, kind) in operation.query {
            let likely = if *kind == Kind::WalletType { 95 } else { 40 };
            while self.chance.percent(if parts.is_empty() { likely } else { 35 }) && parts.len() < 4 {
                let value = if self.chance.percent(12) {
                    self.values.nasty(*kind, &mut self.chance).replace(['"', '{', '}', '[', ']', ' '], "")
                } else if *kind == Kind::Corporation {
                    self.id(*kind, theme)
                } else {
                    self.values.good(*kind, &mut self.chance)
                };
                parts.push(format!("{name}={}", encoded(&value)));
                if self.chance.percent(95) {
                    break;
                }
            }
        }
        let mark = if parts.is_empty() { "" } else { "?" };
        format!("{mark}{}", parts.join("&"))
    }

    fn body(&mut self, operation: &Operation, theme: usize) -> String {
        if self.chance.percent(2) {
            return self.chance.word(GARBAGE).to_owned();
        }
        let mood = match self.chance.below(10) {
            0..6 => Mood::Good,
            6..9 => Mood::OneNasty,
            _ => Mood::Wild,
        };
        let nasty_one = self.chance.below(operation.fields.len());
        let mut members = Vec::new();
        let mut sends_user = true;
        for (at, field) in operation.fields.iter().enumerate() {
            let nasty = match mood {
                Mood::Good => false,
                Mood::OneNasty => at == nasty_one,
                Mood::Wild => self.chance.percent(50),
            };
            if !nasty && !self.is_sent(field, operation.method == "POST", mood) {
                continue;
            }
            let value = self.value(field.kind, nasty, theme, sends_user);
            sends_user = if field.kind == Kind::SenderType { value == "\"user\"" } else { sends_user };
            members.push((field.name, value));
        }
        for stray in ["id", "nick name", "created_at", "domain"] {
            if self.chance.percent(2) {
                members.push((stray, "\"x\"".to_owned()));
            }
        }
        object(&members)
    }

    fn is_sent(&mut self, field: &Field, creates: bool, mood: Mood) -> bool {
        match mood {
            Mood::Wild => self.chance.percent(60),
            _ => creates && field.required || self.chance.percent(30),
        }
    }

    fn value(&mut self, kind: Kind, nasty: bool, theme: usize, sends_user: bool) -> String {
        match kind {
            Kind::Receivers => self.receivers(nasty, theme),
            _ if nasty => self.values.nasty(kind, &mut self.chance),
            Kind::Sender if sends_user => format!("\"{}\"", self.id(Kind::User, theme)),
            Kind::Sender => format!("\"{}\"", self.id(Kind::Company, theme)),
            Kind::Company | Kind::Corporation | Kind::Occasion | Kind::User => {
                format!("\"{}\"", self.id(kind, theme))
            }
            _ => self.values.good(kind, &mut self.chance),
        }
    }

    fn receivers(&mut self, nasty: bool, theme: usize) -> String {
        let count = 1 + self.chance.below(3);
        let mut ids: Vec<String> = (0..count).map(|_| self.id(Kind::User, theme)).collect();
        if nasty {
            let strange = ["", " ", "x", ABSENT, &ids[0]].map(str::to_owned);
            ids.push(self.chance.one_of(&strange).clone());
        } else {
            ids.sort();
            ids.dedup();
        }
        format!("\"{}\"", ids.join(self.chance.word(&[",", " , "])))
    }
}

/// A value for a query: without the quotation marks of JSON, and percent-encoded where needed.
fn encoded(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+%".contains(&byte);
    let plain = value.trim_matches('"').bytes();
    plain
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

//! Generates requests to every endpoint about objects that exist, are deleted, are foreign or never existed.

use serde_json::Value;

use super::operations::{FieldSpec, OPERATIONS, OperationSpec};
use super::request::{AgreedResponse, RequestTemplate, json_object};
use super::rng::TestRng;
use super::values::{ValueGenerator, ValueKind};

const ABSENT_ID: &str = "0193a5c0-0000-7000-8000-000000000001";
const MALFORMED_BODIES: &[&str] =
    &["", "{", "[]", "null", "{} {}", "\u{feff}{}", "{\"name\":\"\\ud800\"}", "{'a':1}"];

/// Generates requests, and learns from the responses which objects exist.
pub struct Generator {
    rng: TestRng,
    values: ValueGenerator,
    companies: Vec<KnownCompany>,
    /// The ids of corporations, each with the index of its provider.
    corporations: Vec<(usize, String)>,
    global_occasions: Vec<String>,
    requests_with_key: Vec<RequestTemplate>,
}

/// The known objects of a company, so that some requests are valid.
struct KnownCompany {
    provider: usize,
    id: String,
    occasions: Vec<String>,
    users: Vec<String>,
    deleted: Vec<String>,
    deleted_occasions: Vec<String>,
    recognitions: Vec<String>,
}

/// How the field values of a body are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BodyMode {
    Valid,
    OneInvalid,
    Random,
}

impl Generator {
    pub fn new(rng: TestRng) -> Self {
        let (companies, corporations, global_occasions, requests_with_key) = (vec![], vec![], vec![], vec![]);
        Self {
            rng,
            values: ValueGenerator::new(),
            companies,
            corporations,
            global_occasions,
            requests_with_key,
        }
    }

    pub fn company_ids(&self) -> Vec<String> {
        self.companies.iter().map(|company| company.id.clone()).collect()
    }

    /// The ids of all users, each with the index of its provider.
    pub fn user_ids(&self) -> Vec<(usize, String)> {
        let users = self.companies.iter().flat_map(|company| {
            company.users.iter().chain(&company.deleted).map(|id| (company.provider, id))
        });
        users.map(|(by, id)| (by, id.clone())).collect()
    }

    /// Records the objects in a response.
    pub fn record_objects(&mut self, request: &RequestTemplate, response: &AgreedResponse) {
        let json = serde_json::from_str::<Value>(&response.body).unwrap_or_default();
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let path = request.path.split('?').next().unwrap();
        match (request.method, path, response.status) {
            ("POST", "/v1/corporations", 201) => self.corporations.push((request.caller, text("id"))),
            ("POST", "/v1/companies", 201) => {
                let (by, id, users) = (request.caller, text("id"), vec![text("owner_id")]);
                let (occasions, deleted, deleted_occasions, recognitions) = (vec![], vec![], vec![], vec![]);
                self.companies.push(KnownCompany {
                    provider: by,
                    id,
                    occasions,
                    users,
                    deleted,
                    deleted_occasions,
                    recognitions,
                });
            }
            ("POST", "/v1/occasions", 201) => {
                self.find_company(&text("company_id")).occasions.push(text("id"))
            }
            ("POST", "/v1/recognitions", 201) => {
                for sent in json["recognitions"].as_array().into_iter().flatten() {
                    let text = |key: &str| sent[key].as_str().unwrap().to_owned();
                    self.find_company(&text("company_id")).recognitions.push(text("id"));
                }
            }
            ("POST", "/v1/users", 201) => self.find_company(&text("company_id")).users.push(text("id")),
            ("PUT", _, 200) if !text("owner_id").is_empty() => {
                let (users, owner) = (&mut self.find_company(&text("id")).users, text("owner_id"));
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
                    if !self.global_occasions.contains(&id) {
                        self.global_occasions.push(id);
                    }
                }
            }
            _ => (),
        }
    }

    fn find_company(&mut self, id: &str) -> &mut KnownCompany {
        self.companies.iter_mut().find(|company| company.id == id).unwrap()
    }

    pub fn next(&mut self) -> RequestTemplate {
        if self.rng.random_bool(3) && !self.requests_with_key.is_empty() {
            return self.rng.pick_one(&self.requests_with_key).clone();
        }
        let operation = self.choose_operation();
        let company_index =
            if self.rng.random_bool(70) { 0 } else { self.rng.random_below(self.companies.len()) };
        let provider = self.companies[company_index].provider;
        let caller = if self.rng.random_bool(88) { provider } else { *self.rng.pick_one(&[0, 1, 2]) };
        let path = self.fill_path(operation, company_index) + &self.build_query(operation, company_index);
        let body = (!operation.fields.is_empty()).then(|| self.build_body(operation, company_index));
        let method = match operation.method {
            "GET" if self.rng.random_bool(4) => "HEAD",
            _ if self.rng.random_bool(1) => "PATCH",
            method => method,
        };
        let request = RequestTemplate {
            caller,
            method,
            path,
            headers: self.choose_headers(method, body.is_some()),
            body,
        };
        if request.headers.iter().any(|(name, _)| *name == "Idempotency-Key") {
            self.requests_with_key.push(request.clone());
        }
        request
    }

    fn choose_operation(&mut self) -> &'static OperationSpec {
        let mut remaining = self.rng.random_below(OPERATIONS.iter().map(|operation| operation.weight).sum());
        for operation in OPERATIONS {
            match remaining.checked_sub(operation.weight) {
                Some(rest) => remaining = rest,
                None => return operation,
            }
        }
        unreachable!("the weights add up")
    }

    fn choose_headers(&mut self, method: &str, has_body: bool) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if has_body {
            let kind = if self.rng.random_bool(1) { "text/plain" } else { "application/json" };
            headers.push(("Content-Type", kind.to_owned()));
        }
        if method == "POST" && self.rng.random_bool(10) {
            let key = self.rng.random_below(40);
            headers.push(("Idempotency-Key", if key == 0 { "k".repeat(256) } else { format!("key-{key}") }));
        }
        headers
    }

    fn fill_path(&mut self, operation: &OperationSpec, company_index: usize) -> String {
        let kinds = [
            ("{company}", ValueKind::Company),
            ("{corporation}", ValueKind::Corporation),
            ("{occasion}", ValueKind::Occasion),
            ("{recognition}", ValueKind::Recognition),
            ("{user}", ValueKind::User),
        ];
        let Some((name, kind)) = kinds.into_iter().find(|(name, _)| operation.path.contains(name)) else {
            return operation.path.to_owned();
        };
        let id = match self.rng.random_below(100) {
            0..4 => self.rng.pick_word(&["x", "%00", "..%2fusers", "%7B@1%7D", "@1%20", "%C3"]).to_owned(),
            4..8 => {
                self.rng.pick_word(&["first0.example.com", "FIRST1.example.com", "no.example"]).to_owned()
            }
            _ => self.choose_id(kind, company_index),
        };
        operation.path.replace(name, &id)
    }

    /// Chooses the id of an object. Occasionally chooses an object of another kind or of another company, or an id that
    /// no object has.
    fn choose_id(&mut self, kind: ValueKind, company_index: usize) -> String {
        let strange = self.rng.random_below(100);
        let all = [ValueKind::Company, ValueKind::Corporation, ValueKind::Occasion, ValueKind::User];
        let kind = if strange < 2 { *self.rng.pick_one(&all) } else { kind };
        let company_index =
            if strange > 95 { self.rng.random_below(self.companies.len()) } else { company_index };
        let company = &self.companies[company_index];
        let known = match kind {
            _ if strange == 50 => return ABSENT_ID.to_owned(),
            ValueKind::Company => return company.id.clone(),
            ValueKind::Corporation => {
                let corporations = self
                    .corporations
                    .iter()
                    .filter(|(provider, _)| *provider == company.provider || strange == 51);
                let corporations: Vec<&String> = corporations.map(|(_, id)| id).collect();
                return corporations[self.rng.random_below(corporations.len())].clone();
            }
            ValueKind::Occasion if strange < 8 && !company.deleted_occasions.is_empty() => {
                &company.deleted_occasions
            }
            ValueKind::Occasion if strange > 85 || company.occasions.is_empty() => &self.global_occasions,
            ValueKind::Occasion => &company.occasions,
            ValueKind::Recognition if !company.recognitions.is_empty() => &company.recognitions,
            _ if strange < 5 && !company.deleted.is_empty() || company.users.is_empty() => &company.deleted,
            _ => &company.users,
        };
        self.rng.pick_one(known).clone()
    }

    fn build_query(&mut self, operation: &OperationSpec, company_index: usize) -> String {
        let mut parts = Vec::new();
        for (name, kind) in operation.query {
            let likely = if *kind == ValueKind::WalletType { 95 } else { 40 };
            while self.rng.random_bool(if parts.is_empty() { likely } else { 35 }) && parts.len() < 4 {
                let value = if self.rng.random_bool(12) {
                    self.values
                        .invalid_value(*kind, &mut self.rng)
                        .replace(['"', '{', '}', '[', ']', ' '], "")
                } else if *kind == ValueKind::Corporation {
                    self.choose_id(*kind, company_index)
                } else {
                    self.values.valid_value(*kind, &mut self.rng)
                };
                parts.push(format!("{name}={}", encode_query_value(&value)));
                if self.rng.random_bool(95) {
                    break;
                }
            }
        }
        let mark = if parts.is_empty() { "" } else { "?" };
        format!("{mark}{}", parts.join("&"))
    }

    fn build_body(&mut self, operation: &OperationSpec, company_index: usize) -> String {
        if self.rng.random_bool(2) {
            return self.rng.pick_word(MALFORMED_BODIES).to_owned();
        }
        let mode = match self.rng.random_below(10) {
            0..6 => BodyMode::Valid,
            6..9 => BodyMode::OneInvalid,
            _ => BodyMode::Random,
        };
        let invalid_index = self.rng.random_below(operation.fields.len());
        let mut members = Vec::new();
        let mut sends_user = true;
        for (index, field) in operation.fields.iter().enumerate() {
            let is_invalid = match mode {
                BodyMode::Valid => false,
                BodyMode::OneInvalid => index == invalid_index,
                BodyMode::Random => self.rng.random_bool(50),
            };
            if !is_invalid && !self.should_send_field(field, operation.method == "POST", mode) {
                continue;
            }
            let value = self.choose_value(field.kind, is_invalid, company_index, sends_user);
            sends_user = if field.kind == ValueKind::SenderType { value == "\"user\"" } else { sends_user };
            members.push((field.name, value));
        }
        for stray in ["id", "nick name", "created_at", "domain"] {
            if self.rng.random_bool(2) {
                members.push((stray, "\"x\"".to_owned()));
            }
        }
        json_object(&members)
    }

    fn should_send_field(&mut self, field: &FieldSpec, creates: bool, mode: BodyMode) -> bool {
        match mode {
            BodyMode::Random => self.rng.random_bool(60),
            _ => creates && field.required || self.rng.random_bool(30),
        }
    }

    fn choose_value(
        &mut self,
        kind: ValueKind,
        is_invalid: bool,
        company_index: usize,
        sends_user: bool,
    ) -> String {
        match kind {
            ValueKind::Receivers => self.choose_receivers(is_invalid, company_index),
            _ if is_invalid => self.values.invalid_value(kind, &mut self.rng),
            ValueKind::Sender if sends_user => {
                format!("\"{}\"", self.choose_id(ValueKind::User, company_index))
            }
            ValueKind::Sender => format!("\"{}\"", self.choose_id(ValueKind::Company, company_index)),
            ValueKind::Company
            | ValueKind::Corporation
            | ValueKind::Occasion
            | ValueKind::Recognition
            | ValueKind::User => {
                format!("\"{}\"", self.choose_id(kind, company_index))
            }
            _ => self.values.valid_value(kind, &mut self.rng),
        }
    }

    fn choose_receivers(&mut self, is_invalid: bool, company_index: usize) -> String {
        let count = 1 + self.rng.random_below(3);
        let mut ids: Vec<String> =
            (0..count).map(|_| self.choose_id(ValueKind::User, company_index)).collect();
        if is_invalid {
            let strange = ["", " ", "x", ABSENT_ID, &ids[0]].map(str::to_owned);
            ids.push(self.rng.pick_one(&strange).clone());
        } else {
            ids.sort();
            ids.dedup();
        }
        format!("\"{}\"", ids.join(self.rng.pick_word(&[",", " , "])))
    }
}

/// A value for a query, without the quotation marks of JSON, and percent-encoded where necessary.
fn encode_query_value(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+%".contains(&byte);
    let plain = value.trim_matches('"').bytes();
    plain
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

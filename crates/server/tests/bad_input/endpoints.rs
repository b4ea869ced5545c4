//! Every endpoint that takes a body, with all of its fields (behaviour 10.1).

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::world::{self, World};

/// The kind of value that a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Line,
    EntityId,
    Message,
    Email,
    Url,
    Domain,
    Id,
    Rate,
    Alert,
    Points,
    Flag,
    Country,
    Birthday,
    Date,
    Groups,
    Certificate,
    Receivers,
    SenderType,
}

/// The effect of `null` on a field, or of `""` on a string field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unset {
    /// The field is required: 400, as if it were absent.
    Required,
    /// Same effect as if the field were absent.
    Default,
    /// The field cannot be unset: 400.
    Kept,
    /// The field is cleared.
    Cleared,
}

use Kind::*;
use Unset::*;

#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub unset: Unset,
}

pub struct Endpoint {
    pub method: &'static str,
    pub path: String,
    pub fields: Vec<Field>,
    base: Value,
}

impl Endpoint {
    /// A valid body. Each call returns new values for unique fields.
    pub fn body(&self) -> Value {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut body = self.base.clone();
        for (name, value) in
            [("domain", format!("n{number}.example.com")), ("email", format!("n{number}@x.example"))]
        {
            if body.get(name).is_some() {
                body[name] = json!(value);
            }
        }
        body
    }

    /// Like `body`, with one field replaced by this raw string, which need not be valid JSON.
    pub fn with(&self, field: &str, raw: &str) -> String {
        let mut body = self.body();
        body.as_object_mut().unwrap().remove(field);
        add(&body, &format!("\"{field}\":{raw}"))
    }

    /// The status of a successful response.
    pub fn success(&self) -> u16 {
        if self.method == "POST" { 201 } else { 200 }
    }
}

/// A body with another string inserted before its closing brace.
pub fn add(body: &Value, more: &str) -> String {
    let text = body.to_string();
    let comma = if text == "{}" { "" } else { "," };
    format!("{}{comma}{more}}}", &text[..text.len() - 1])
}

/// Fields that share a kind and the effect of unsetting them.
fn each(names: &[&'static str], kind: Kind, unset: Unset) -> Vec<Field> {
    names.iter().map(|name| Field { name, kind, unset }).collect()
}

const LINES_OF_A_USER: [&str; 11] = [
    "department",
    "title",
    "employee_id",
    "office_city",
    "office_state",
    "office_country",
    "custom_field_1",
    "custom_field_2",
    "custom_field_3",
    "custom_field_4",
    "custom_field_5",
];
const FLAGS_OF_A_USER: [&str; 3] = ["manager", "company_admin", "corporation_admin"];

/// All ten endpoints.
pub fn all(world: &World) -> Vec<Endpoint> {
    let sample = &world.sample;
    let (company, corporation) = (&sample.company, &world.corporation);
    let endpoint = |method, path: String, fields: Vec<Vec<Field>>, base| {
        let fields = fields.concat();
        Endpoint { method, path, fields, base }
    };
    let recognition = sample.recognition("company", company, &[&sample.users[2]], 1);
    vec![
        endpoint(
            "POST",
            "/v1/companies".into(),
            company_fields(true),
            world::company("n", "n.example", corporation),
        ),
        endpoint("PUT", format!("/v1/companies/{company}"), company_fields(false), json!({})),
        endpoint("PUT", format!("/v1/companies/{company}/saml"), saml_fields(), json!({})),
        endpoint(
            "POST",
            "/v1/corporations".into(),
            vec![each(&["name"], Line, Required)],
            json!({"name": "n"}),
        ),
        endpoint(
            "PUT",
            format!("/v1/corporations/{corporation}"),
            vec![each(&["name"], Line, Kept)],
            json!({}),
        ),
        endpoint("POST", "/v1/occasions".into(), occasion_fields(true), world::occasion(company, "n")),
        endpoint("PUT", format!("/v1/occasions/{}", sample.occasion), occasion_fields(false), json!({})),
        endpoint("POST", "/v1/recognitions".into(), recognition_fields(), recognition),
        endpoint("POST", "/v1/users".into(), user_fields(true), world::user(company, "n", "n")),
        endpoint("PUT", format!("/v1/users/{}", sample.users[1]), user_fields(false), json!({})),
    ]
}

fn company_fields(creates: bool) -> Vec<Vec<Field>> {
    let (needed, free) = if creates { (Required, Default) } else { (Kept, Cleared) };
    let mut fields = vec![
        each(&["company_name", "owner_name"], Line, needed),
        each(&["owner_email"], Email, needed),
        each(&["logo_url"], Url, needed),
        each(&["points_per_dollar"], Rate, if creates { Default } else { Kept }),
        each(&["reserve_alert"], Alert, free),
        each(&["reserve_bcc"], Email, free),
        each(&["domain"], Domain, needed), // PUT accepts only the current value
    ];
    if creates {
        fields.push(each(&["corporation_id"], Id, Default));
    }
    fields
}

fn saml_fields() -> Vec<Vec<Field>> {
    vec![
        each(&["idp_id"], EntityId, Cleared),
        each(&["idp_url"], Url, Cleared),
        each(&["idp_certificate"], Certificate, Cleared),
        each(&["active"], Flag, Kept),
    ]
}

fn occasion_fields(creates: bool) -> Vec<Vec<Field>> {
    let needed = if creates { Required } else { Kept };
    vec![
        each(&["company_id"], Id, needed), // PUT accepts only the current value
        each(&["name", "title"], Line, needed),
        each(&["default_message"], Message, needed),
        each(&["enabled", "visible"], Flag, if creates { Default } else { Kept }),
    ]
}

fn recognition_fields() -> Vec<Vec<Field>> {
    vec![
        each(&["occasion_id", "sender_id"], Id, Required),
        each(&["sender_type"], SenderType, Required),
        each(&["receiver_ids"], Receivers, Required),
        each(&["points_per_receiver"], Points, Required),
        each(&["message"], Message, Default),
        each(&["share"], Flag, Default),
    ]
}

fn user_fields(creates: bool) -> Vec<Vec<Field>> {
    let (needed, free) = if creates { (Required, Default) } else { (Kept, Cleared) };
    vec![
        each(&["company_id"], Id, needed), // PUT accepts only the current value
        each(&["email"], Email, needed),
        each(&["first_name", "last_name"], Line, needed),
        each(&LINES_OF_A_USER, Line, free),
        each(&["supervisor_email"], Email, free),
        each(&["birthday"], Birthday, free),
        each(&["country_code"], Country, free),
        each(&["work_start_date"], Date, free),
        each(&["groups"], Groups, free),
        each(&FLAGS_OF_A_USER, Flag, if creates { Default } else { Kept }),
    ]
}

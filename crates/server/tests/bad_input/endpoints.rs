//! Every endpoint that takes a body, with all of its fields (behaviour 10.1).

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::provider_fixture::{self, ProviderFixture};

/// The kind of value that a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
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
pub enum UnsetEffect {
    /// The field is required: the response is 400, as if the field were absent.
    Required,
    /// The effect is the same as if the field were absent.
    Default,
    /// The field cannot be unset: the response is 400.
    Kept,
    /// The field is cleared.
    Cleared,
}

use FieldKind::*;
use UnsetEffect::*;

#[derive(Debug, Clone, Copy)]
pub struct EndpointField {
    pub name: &'static str,
    pub kind: FieldKind,
    pub unset: UnsetEffect,
}

pub struct Endpoint {
    pub method: &'static str,
    pub path: String,
    pub fields: Vec<EndpointField>,
    base: Value,
}

impl Endpoint {
    /// A valid body. Each call returns new values for unique fields.
    pub fn valid_body(&self) -> Value {
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

    /// Like `valid_body`, with one field replaced by this raw string, which need not be valid JSON.
    pub fn body_with_field(&self, field: &str, raw: &str) -> String {
        let mut body = self.valid_body();
        body.as_object_mut().unwrap().remove(field);
        append_member(&body, &format!("\"{field}\":{raw}"))
    }

    /// The status of a successful response.
    pub fn success_status(&self) -> u16 {
        if self.method == "POST" { 201 } else { 200 }
    }
}

/// A body with a further member inserted before its closing brace.
pub fn append_member(body: &Value, more: &str) -> String {
    let text = body.to_string();
    let comma = if text == "{}" { "" } else { "," };
    format!("{}{comma}{more}}}", &text[..text.len() - 1])
}

/// Fields that share a kind and the effect of unsetting them.
fn fields_of_kind(names: &[&'static str], kind: FieldKind, unset: UnsetEffect) -> Vec<EndpointField> {
    names.iter().map(|name| EndpointField { name, kind, unset }).collect()
}

const USER_LINE_FIELDS: [&str; 11] = [
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
const USER_FLAG_FIELDS: [&str; 3] = ["manager", "company_admin", "corporation_admin"];

/// All ten endpoints.
pub fn all_endpoints(objects: &ProviderFixture) -> Vec<Endpoint> {
    let sample = &objects.sample;
    let (company, corporation) = (&sample.company, &objects.corporation);
    let endpoint = |method, path: String, fields: Vec<Vec<EndpointField>>, base| {
        let fields = fields.concat();
        Endpoint { method, path, fields, base }
    };
    let recognition = sample.recognition_body("company", company, &[&sample.users[2]], 1);
    vec![
        endpoint(
            "POST",
            "/v1/companies".into(),
            company_fields(true),
            provider_fixture::marked_company_body("n", "n.example", corporation),
        ),
        endpoint("PUT", format!("/v1/companies/{company}"), company_fields(false), json!({})),
        endpoint("PUT", format!("/v1/companies/{company}/saml"), saml_fields(), json!({})),
        endpoint(
            "POST",
            "/v1/corporations".into(),
            vec![fields_of_kind(&["name"], Line, Required)],
            json!({"name": "n"}),
        ),
        endpoint(
            "PUT",
            format!("/v1/corporations/{corporation}"),
            vec![fields_of_kind(&["name"], Line, Kept)],
            json!({}),
        ),
        endpoint(
            "POST",
            "/v1/occasions".into(),
            occasion_fields(true),
            provider_fixture::marked_occasion_body(company, "n"),
        ),
        endpoint("PUT", format!("/v1/occasions/{}", sample.occasion), occasion_fields(false), json!({})),
        endpoint("POST", "/v1/recognitions".into(), recognition_fields(), recognition),
        endpoint(
            "POST",
            "/v1/users".into(),
            user_fields(true),
            provider_fixture::marked_user_body(company, "n", "n"),
        ),
        endpoint("PUT", format!("/v1/users/{}", sample.users[1]), user_fields(false), json!({})),
    ]
}

fn company_fields(creates: bool) -> Vec<Vec<EndpointField>> {
    let (needed, free) = if creates { (Required, Default) } else { (Kept, Cleared) };
    let mut fields = vec![
        fields_of_kind(&["company_name", "owner_name"], Line, needed),
        fields_of_kind(&["owner_email"], Email, needed),
        fields_of_kind(&["logo_url"], Url, needed),
        fields_of_kind(&["points_per_dollar"], Rate, if creates { Default } else { Kept }),
        fields_of_kind(&["reserve_alert"], Alert, free),
        fields_of_kind(&["reserve_bcc"], Email, free),
        fields_of_kind(&["domain"], Domain, needed), // PUT accepts only the current value
    ];
    if creates {
        fields.push(fields_of_kind(&["corporation_id"], Id, Default));
    }
    fields
}

fn saml_fields() -> Vec<Vec<EndpointField>> {
    vec![
        fields_of_kind(&["idp_id"], EntityId, Cleared),
        fields_of_kind(&["idp_url"], Url, Cleared),
        fields_of_kind(&["idp_certificate"], Certificate, Cleared),
        fields_of_kind(&["active"], Flag, Kept),
    ]
}

fn occasion_fields(creates: bool) -> Vec<Vec<EndpointField>> {
    let needed = if creates { Required } else { Kept };
    vec![
        fields_of_kind(&["company_id"], Id, needed), // PUT accepts only the current value
        fields_of_kind(&["name", "title"], Line, needed),
        fields_of_kind(&["default_message"], Message, needed),
        fields_of_kind(&["enabled", "visible"], Flag, if creates { Default } else { Kept }),
    ]
}

fn recognition_fields() -> Vec<Vec<EndpointField>> {
    vec![
        fields_of_kind(&["occasion_id", "sender_id"], Id, Required),
        fields_of_kind(&["sender_type"], SenderType, Required),
        fields_of_kind(&["receiver_ids"], Receivers, Required),
        fields_of_kind(&["points_per_receiver"], Points, Required),
        fields_of_kind(&["message"], Message, Default),
        fields_of_kind(&["share"], Flag, Default),
    ]
}

fn user_fields(creates: bool) -> Vec<Vec<EndpointField>> {
    let (needed, free) = if creates { (Required, Default) } else { (Kept, Cleared) };
    vec![
        fields_of_kind(&["company_id"], Id, needed), // PUT accepts only the current value
        fields_of_kind(&["email"], Email, needed),
        fields_of_kind(&["first_name", "last_name"], Line, needed),
        fields_of_kind(&USER_LINE_FIELDS, Line, free),
        fields_of_kind(&["supervisor_email"], Email, free),
        fields_of_kind(&["birthday"], Birthday, free),
        fields_of_kind(&["country_code"], Country, free),
        fields_of_kind(&["work_start_date"], Date, free),
        fields_of_kind(&["groups"], Groups, free),
        fields_of_kind(&USER_FLAG_FIELDS, Flag, if creates { Default } else { Kept }),
    ]
}

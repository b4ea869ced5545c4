//! Authorization: every route without credentials, with wrong credentials, by a suspended or undesignated provider,
//! and with ids that are foreign, absent, deleted or malformed. The rows are compared with the route table.

mod assignment;
mod callers;
mod lists;
mod named;
mod objects;
mod rights;

use serde_json::{Value, json};

use crate::support::service::{Answer, Provider, Service, basic};
use crate::support::world::{self, World};

const ABSENT: &str = "0193a5c0-0000-7000-8000-000000000001";

/// A request to one route that the owner of the objects may send.
struct Row {
    method: &'static str,
    pattern: &'static str,
    path: String,
    body: Option<Value>,
    /// The fields of the body (behaviour 10.1).
    fields: &'static [&'static str],
}

const COMPANY: &[&str] = &[
    "domain",
    "company_name",
    "owner_email",
    "owner_name",
    "logo_url",
    "corporation_id",
    "points_per_dollar",
    "reserve_alert",
    "reserve_bcc",
];
const COMPANY_CHANGE: &[&str] = &[
    "domain",
    "company_name",
    "owner_email",
    "owner_name",
    "logo_url",
    "points_per_dollar",
    "reserve_alert",
    "reserve_bcc",
];
const SAML: &[&str] = &["idp_id", "idp_url", "idp_certificate", "active"];
const OCCASION: &[&str] = &["company_id", "name", "title", "default_message", "enabled", "visible"];
const RECOGNITION: &[&str] =
    &["occasion_id", "sender_type", "sender_id", "receiver_ids", "points_per_receiver", "message", "share"];
const USER: &[&str] = &[
    "company_id",
    "email",
    "first_name",
    "last_name",
    "department",
    "title",
    "supervisor_email",
    "employee_id",
    "birthday",
    "country_code",
    "work_start_date",
    "office_city",
    "office_state",
    "office_country",
    "manager",
    "company_admin",
    "corporation_admin",
    "groups",
    "custom_field_1",
    "custom_field_2",
    "custom_field_3",
    "custom_field_4",
    "custom_field_5",
];

/// One request to each route, for the objects of `world` (behaviour 10.1).
fn rows(world: &World) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |method, pattern: &'static str, id: &str, body: Option<Value>, fields| {
        let path = match pattern {
            "/v1/users/{id}/transactions" => pattern.replace("{id}", id) + "?type=peer_wallet",
            _ => pattern.replace("{id}", id),
        };
        rows.push(Row { method, pattern, path, body, fields });
    };
    let sample = &world.sample;
    let (company, occasion, user) = (&sample.company, &sample.occasion, &sample.users[0]);
    let none: &[&str] = &[];
    let another = world::company("another", "another.example.com", &world.corporation);
    row("POST", "/v1/companies", "", Some(another), COMPANY);
    row("GET", "/v1/companies", "", None, none);
    row("GET", "/v1/companies/{id}", company, None, none);
    row("PUT", "/v1/companies/{id}", company, Some(json!({"company_name": "Changed"})), COMPANY_CHANGE);
    row("GET", "/v1/companies/{id}/users/balances", company, None, none);
    row("GET", "/v1/companies/{id}/occasions", company, None, none);
    row("PUT", "/v1/companies/{id}/saml", company, Some(json!({"idp_id": "changed"})), SAML);
    row("GET", "/v1/companies/{id}/saml", company, None, none);
    row("GET", "/v1/companies/{id}/users", company, None, none);
    row("GET", "/v1/companies/{id}/reserve", company, None, none);
    row("GET", "/v1/companies/{id}/reserve/transactions", company, None, none);
    let rate = json!({"points_per_dollar": 25});
    row("POST", "/v1/companies/{id}/rate_preview", company, Some(rate), &["points_per_dollar"]);
    row("POST", "/v1/corporations", "", Some(json!({"name": "Another"})), &["name"]);
    row("GET", "/v1/corporations", "", None, none);
    row("GET", "/v1/corporations/{id}", &world.corporation, None, none);
    row("GET", "/v1/corporations/{id}/companies", &world.corporation, None, none);
    row("PUT", "/v1/corporations/{id}", &world.corporation, Some(json!({"name": "Changed"})), &["name"]);
    row("POST", "/v1/occasions", "", Some(world::occasion(company, "another")), OCCASION);
    row("GET", "/v1/occasions/{id}", occasion, None, none);
    row("PUT", "/v1/occasions/{id}", occasion, Some(json!({"title": "Changed"})), OCCASION);
    row("DELETE", "/v1/occasions/{id}", &world.spare_occasion, None, none);
    let recognition = sample.recognition("company", company, &[user], 1);
    row("POST", "/v1/recognitions", "", Some(recognition.clone()), RECOGNITION);
    row("POST", "/v1/recognitions/dry_run", "", Some(recognition), RECOGNITION);
    row("POST", "/v1/users", "", Some(world::user(company, "another", "new")), USER);
    row("GET", "/v1/users/{id}", user, None, none);
    row("PUT", "/v1/users/{id}", user, Some(json!({"title": "Changed"})), USER);
    row("DELETE", "/v1/users/{id}", &world.spare_user, None, none);
    row("GET", "/v1/users/{id}/balances", user, None, none);
    row("GET", "/v1/users/{id}/transactions", user, None, none);
    row("GET", "/v1/users/{id}/recognitions_received", user, None, none);
    row("GET", "/v1/users/{id}/recognitions_sent", user, None, none);
    row("GET", "/v1/events", "", None, none);
    row("POST", "/v1/events/replay", "", Some(json!({"state": "exhausted"})), &["since", "state"]);
    row("GET", "/v1/events/{id}", &world.event, None, none);
    row("POST", "/v1/events/{id}/replay", &world.event, None, none);
    rows
}

impl Row {
    /// The id in the path.
    fn id(&self) -> Option<&str> {
        self.pattern.contains("{id}").then(|| self.path.split('/').nth(3)?.split('?').next()).flatten()
    }

    /// The same path with another id.
    fn about(&self, id: &str) -> String {
        self.path.replace(self.id().unwrap(), id)
    }

    /// The status of a successful response.
    fn success(&self) -> u16 {
        match self.method {
            "POST" if self.makes_nothing() => 200,
            "POST" => 201,
            "DELETE" => 204,
            _ => 200,
        }
    }

    /// Whether a successful request creates no object.
    fn makes_nothing(&self) -> bool {
        ["/dry_run", "/rate_preview", "/replay"].iter().any(|suffix| self.pattern.ends_with(suffix))
    }

    /// Whether the route requires designation (behaviour 9.3).
    fn needs_designation(&self) -> bool {
        matches!(
            (self.method, self.pattern),
            (
                "POST" | "PUT",
                "/v1/companies" | "/v1/companies/{id}" | "/v1/corporations" | "/v1/corporations/{id}"
            ) | ("POST", "/v1/users")
        )
    }

    fn call(&self, service: &Service, provider: &Provider) -> Answer {
        call(service, provider, self.method, &self.path, self.body.as_ref())
    }
}

fn call(service: &Service, provider: &Provider, method: &str, path: &str, body: Option<&Value>) -> Answer {
    send(service, Some(&basic(provider)), method, path, body.map(Value::to_string).as_deref())
}

fn send(
    service: &Service,
    authorization: Option<&str>,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> Answer {
    let mut headers: Vec<(&str, &str)> =
        authorization.map(|value| ("Authorization", value)).into_iter().collect();
    if body.is_some() {
        headers.push(("Content-Type", "application/json"));
    }
    service.running.request(method, path, &headers, body)
}

#[test]
fn every_route_has_a_row() {
    let nobody = Provider { id: String::new(), api_key: String::new(), api_secret: String::new() };
    let [company, occasion] = [ABSENT.to_owned(), ABSENT.to_owned()];
    let world = World {
        sample: crate::support::Sample { provider: nobody, company, occasion, users: vec![ABSENT.into(); 3] },
        corporation: ABSENT.into(),
        owner: ABSENT.into(),
        domain: "example.com".into(),
        mark: "nobody".into(),
        spare_user: ABSENT.into(),
        spare_occasion: ABSENT.into(),
        event: ABSENT.into(),
    };
    let mut rows: Vec<(&str, &str, bool)> =
        rows(&world).iter().map(|row| (row.method, row.pattern, row.needs_designation())).collect();
    let mut routes: Vec<(&str, &str, bool)> = guerdon_http_api::ROUTES
        .iter()
        .map(|route| (route.method, route.pattern, route.needs_designation))
        .collect();
    rows.sort_unstable();
    routes.sort_unstable();
    assert_eq!(rows, routes);
    assert_eq!(rows.len(), 35);
}

//! Authorization: every route without credentials, with wrong credentials, by a suspended or undesignated provider,
//! and with ids that are foreign, absent, deleted or malformed. The rows are compared with the route table.

mod callers;
mod designation;
mod lists;
mod mass_assignment;
mod objects;
mod referenced_ids;

use serde_json::{Value, json};

use crate::support::provider_fixture::{self, ProviderFixture};
use crate::support::service::{ApiResponse, ProviderCredentials, TestService, basic_authorization};

const ABSENT_ID: &str = "0193a5c0-0000-7000-8000-000000000001";

/// A request to one route that the owner of the objects may send.
struct RouteRequest {
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

/// One request to each route, for the objects of `fixture` (behaviour 10.1).
fn list_requests(fixture: &ProviderFixture) -> Vec<RouteRequest> {
    let mut rows = Vec::new();
    let mut row = |method, pattern: &'static str, id: &str, body: Option<Value>, fields| {
        let path = match pattern {
            "/v1/users/{id}/transactions" => pattern.replace("{id}", id) + "?type=peer_wallet",
            _ => pattern.replace("{id}", id),
        };
        rows.push(RouteRequest { method, pattern, path, body, fields });
    };
    let sample = &fixture.sample;
    let (company, occasion, user) = (&sample.company, &sample.occasion, &sample.users[0]);
    let none: &[&str] = &[];
    let another =
        provider_fixture::marked_company_body("another", "another.example.com", &fixture.corporation);
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
    row("GET", "/v1/corporations/{id}", &fixture.corporation, None, none);
    row("GET", "/v1/corporations/{id}/companies", &fixture.corporation, None, none);
    row("PUT", "/v1/corporations/{id}", &fixture.corporation, Some(json!({"name": "Changed"})), &["name"]);
    row(
        "POST",
        "/v1/occasions",
        "",
        Some(provider_fixture::marked_occasion_body(company, "another")),
        OCCASION,
    );
    row("GET", "/v1/occasions/{id}", occasion, None, none);
    row("PUT", "/v1/occasions/{id}", occasion, Some(json!({"title": "Changed"})), OCCASION);
    row("DELETE", "/v1/occasions/{id}", &fixture.spare_occasion, None, none);
    let recognition = sample.recognition_body("company", company, &[user], 1);
    row("POST", "/v1/recognitions", "", Some(recognition.clone()), RECOGNITION);
    row("POST", "/v1/recognitions/dry_run", "", Some(recognition), RECOGNITION);
    row("GET", "/v1/recognitions/{id}", &fixture.recognition, None, none);
    row("POST", "/v1/users", "", Some(provider_fixture::marked_user_body(company, "another", "new")), USER);
    row("GET", "/v1/users/{id}", user, None, none);
    row("PUT", "/v1/users/{id}", user, Some(json!({"title": "Changed"})), USER);
    row("DELETE", "/v1/users/{id}", &fixture.spare_user, None, none);
    row("GET", "/v1/users/{id}/balances", user, None, none);
    row("GET", "/v1/users/{id}/transactions", user, None, none);
    row("GET", "/v1/users/{id}/recognitions_received", user, None, none);
    row("GET", "/v1/users/{id}/recognitions_sent", user, None, none);
    row("GET", "/v1/events", "", None, none);
    row("POST", "/v1/events/replay", "", Some(json!({"state": "exhausted"})), &["since", "state"]);
    row("GET", "/v1/events/{id}", &fixture.event, None, none);
    row("POST", "/v1/events/{id}/replay", &fixture.event, None, none);
    rows
}

impl RouteRequest {
    /// The id in the path.
    fn path_id(&self) -> Option<&str> {
        self.pattern.contains("{id}").then(|| self.path.split('/').nth(3)?.split('?').next()).flatten()
    }

    /// The same path with another id.
    fn path_for_id(&self, id: &str) -> String {
        self.path.replace(self.path_id().unwrap(), id)
    }

    /// The status of a successful response.
    fn success_status(&self) -> u16 {
        match self.method {
            "POST" if self.creates_nothing() => 200,
            "POST" => 201,
            "DELETE" => 204,
            _ => 200,
        }
    }

    /// Whether a successful request creates no object.
    fn creates_nothing(&self) -> bool {
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

    fn send_as(&self, service: &TestService, provider: &ProviderCredentials) -> ApiResponse {
        send_as_provider(service, provider, self.method, &self.path, self.body.as_ref())
    }
}

fn send_as_provider(
    service: &TestService,
    provider: &ProviderCredentials,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> ApiResponse {
    send_request(
        service,
        Some(&basic_authorization(provider)),
        method,
        path,
        body.map(Value::to_string).as_deref(),
    )
}

fn send_request(
    service: &TestService,
    authorization: Option<&str>,
    method: &str,
    path: &str,
    body: Option<&str>,
) -> ApiResponse {
    let mut headers: Vec<(&str, &str)> =
        authorization.map(|value| ("Authorization", value)).into_iter().collect();
    if body.is_some() {
        headers.push(("Content-Type", "application/json"));
    }
    service.running.send_request(method, path, &headers, body)
}

#[test]
fn every_route_has_a_row() {
    let nobody = ProviderCredentials { id: String::new(), api_key: String::new(), api_secret: String::new() };
    let [company, occasion] = [ABSENT_ID.to_owned(), ABSENT_ID.to_owned()];
    let fixture = ProviderFixture {
        sample: crate::support::SampleCompany {
            provider: nobody,
            company,
            occasion,
            users: vec![ABSENT_ID.into(); 3],
        },
        corporation: ABSENT_ID.into(),
        owner: ABSENT_ID.into(),
        domain: "example.com".into(),
        mark: "nobody".into(),
        spare_user: ABSENT_ID.into(),
        spare_occasion: ABSENT_ID.into(),
        recognition: ABSENT_ID.into(),
        event: ABSENT_ID.into(),
    };
    let mut rows: Vec<(&str, &str, bool)> = list_requests(&fixture)
        .iter()
        .map(|row| (row.method, row.pattern, row.needs_designation()))
        .collect();
    let mut routes: Vec<(&str, &str, bool)> = guerdon_http_api::ROUTES
        .iter()
        .map(|route| (route.method, route.pattern, route.needs_designation))
        .collect();
    rows.sort_unstable();
    routes.sort_unstable();
    assert_eq!(rows, routes);
    assert_eq!(rows.len(), 36);
}

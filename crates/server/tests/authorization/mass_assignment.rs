//! Mass assignment: column names in a body change nothing and are listed as ignored.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{RouteRequest, list_requests, send_as_provider};
use crate::support::fixture_templates::{for_each_fixture, for_each_fixture_pair};
use crate::support::provider_fixture::{self, ProviderFixture};
use crate::support::service::{ApiResponse, TestService};
use crate::support::{created_id, schema};

/// Names that occur in responses and look like settable fields.
const READ_ONLY_FIELDS: [&str; 14] = [
    "id",
    "global",
    "sp_id",
    "user_count",
    "points",
    "sender_type",
    "wallets",
    "cumulative_points_spent",
    "total_count",
    "receiver_id",
    "provider",
    "reserve",
    "is_admin",
    "role",
];

/// The maximum number of names in `X-Ignored-Fields`.
const IGNORED_FIELDS_MAX: usize = 20;

/// Every column name that is not a field of the request, with a value that fits the column.
fn forged_columns(row: &RouteRequest, foreign: &str) -> Vec<(String, Value)> {
    let value = |kind: &str| match kind {
        "uuid" => json!(foreign),
        "boolean" => json!(true),
        "smallint" | "integer" | "bigint" => json!(2),
        "timestamptz" => json!("2001-02-03T04:05:06.789Z"),
        _ => json!("forged"),
    };
    let columns = schema::list_columns().into_iter().map(|column| (column.name, column.kind));
    let shown = READ_ONLY_FIELDS.map(|name| (name.to_owned(), "bigint".to_owned()));
    let all: BTreeSet<(String, String)> = columns.chain(shown).collect();
    let mut names = BTreeSet::new();
    all.into_iter()
        .filter(|(name, _)| !row.fields.contains(&name.as_str()) && names.insert(name.clone()))
        .map(|(name, kind)| (name, value(&kind)))
        .collect()
}

/// The response without the values that differ between objects.
fn without_unique_values(mut response: Value) -> Value {
    fn strip_unique_values(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["id", "owner_id", "created_at", "updated_at", "domain", "email", "owner_email"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip_unique_values);
            }
            Value::Array(items) => items.iter_mut().for_each(strip_unique_values),
            _ => {}
        }
    }
    strip_unique_values(&mut response);
    response
}

/// The row's body with new values for its unique fields.
fn body_with_unique_values(row: &RouteRequest, number: usize) -> Value {
    let mut body = row.body.clone().unwrap();
    if row.pattern == "/v1/companies" {
        body["domain"] = json!(format!("fresh{number}.example.com"));
    }
    if row.pattern == "/v1/users" {
        body["email"] = json!(format!("fresh{number}@example.com"));
    }
    body
}

fn ignored_fields(response: &ApiResponse) -> BTreeSet<String> {
    response.header("x-ignored-fields").unwrap_or_default().split(", ").map(str::to_owned).collect()
}

#[test]
fn column_names_in_a_body_change_nothing_and_are_listed_as_ignored() {
    for_each_fixture_pair(|service, fixture, other| {
        for row in list_requests(fixture).iter().filter(|row| row.body.is_some()) {
            let forged = forged_columns(row, &other.sample.company);
            assert!(forged.len() > 60, "{forged:?}");
            if row.method == "POST" {
                check_creations(service, fixture, row, &forged);
                continue;
            }
            let take_snapshots = || (fixture.take_snapshot(service), other.take_snapshot(service));
            let before = take_snapshots();
            for columns in forged.chunks(IGNORED_FIELDS_MAX) {
                send_forged(service, fixture, row, json!({}), columns);
            }
            assert_eq!(take_snapshots(), before, "{}", row.path);
        }
    });
}

/// Checks that a POST with forged columns returns the same and adds as many rows as one without them.
fn check_creations(
    service: &TestService,
    fixture: &ProviderFixture,
    row: &RouteRequest,
    forged: &[(String, Value)],
) {
    let before = provider_fixture::count_rows(service);
    let body = body_with_unique_values(row, 0);
    let plain = send_as_provider(service, fixture.provider(), row.method, &row.path, Some(&body));
    assert_eq!(plain.status, row.success_status(), "{}: {}", row.path, plain.body);
    let between = provider_fixture::count_rows(service);
    let mut repetitions = 0;
    for (columns, number) in forged.chunks(IGNORED_FIELDS_MAX).zip(1..) {
        let response = send_forged(service, fixture, row, body_with_unique_values(row, number), columns);
        assert_eq!(
            without_unique_values(response.json()),
            without_unique_values(plain.json()),
            "{} {columns:?}",
            row.path
        );
        repetitions += 1;
    }
    let rows_added = provider_fixture::count_rows(service) - between;
    assert_eq!(rows_added, repetitions * (between - before), "{}", row.path);
}

/// Sends the body with these columns added, which must succeed and list exactly them as ignored.
fn send_forged(
    service: &TestService,
    fixture: &ProviderFixture,
    row: &RouteRequest,
    mut body: Value,
    columns: &[(String, Value)],
) -> ApiResponse {
    for (name, value) in columns {
        body[name] = value.clone();
    }
    let response = send_as_provider(service, fixture.provider(), row.method, &row.path, Some(&body));
    assert_eq!(response.status, row.success_status(), "{} {}: {}", row.method, row.path, response.body);
    let names: BTreeSet<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(ignored_fields(&response), names, "{} {}", row.method, row.path);
    assert!(!response.body.contains("2001-02-03"), "{}", response.body);
    response
}

#[test]
fn a_corporation_admin_is_created_only_in_a_corporation() {
    for_each_fixture(|service, fixture| {
        let company = crate::support::company_body("outside.example.com");
        let outside = created_id(service.post(fixture.provider(), "/v1/companies", &company));
        for (company, kept) in [(&outside, false), (&fixture.sample.company, true)] {
            let mut body = provider_fixture::marked_user_body(company, "zebra", "eve");
            body["corporation_admin"] = json!(true);
            let user = service.post(fixture.provider(), "/v1/users", &body).json();
            assert_eq!(user["corporation_admin"], kept, "{user}");
            let path = format!("/v1/users/{}", user["id"].as_str().unwrap());
            for (sent, kept) in [(true, kept), (false, false), (true, kept)] {
                let changed =
                    service.put(fixture.provider(), &path, &json!({"corporation_admin": sent})).json();
                assert_eq!(changed["corporation_admin"], kept, "{changed}");
                assert_eq!(service.get(fixture.provider(), &path).json(), changed);
            }
        }
    });
}

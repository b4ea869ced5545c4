//! Mass assignment: column names in a body change nothing and are listed as ignored.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Row, call, rows};
use crate::support::service::{Answer, Service};
use crate::support::world::{self, World};
use crate::support::{created, on_each, schema};

/// Names that occur in responses and look as though they could be set.
const SHOWN: [&str; 14] = [
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

/// Every column name that is not a field of the request, with a value that fits the column.
fn forged(row: &Row, foreign: &str) -> Vec<(String, Value)> {
    let value = |kind: &str| match kind {
        "uuid" => json!(foreign),
        "boolean" => json!(true),
        "smallint" | "integer" | "bigint" => json!(2),
        "timestamptz" => json!("2001-02-03T04:05:06.789Z"),
        _ => json!("forged"),
    };
    let columns = schema::columns().into_iter().map(|column| (column.name, column.kind));
    let shown = SHOWN.map(|name| (name.to_owned(), "bigint".to_owned()));
    let all: BTreeSet<(String, String)> = columns.chain(shown).collect();
    let mut names = BTreeSet::new();
    all.into_iter()
        .filter(|(name, _)| !row.fields.contains(&name.as_str()) && names.insert(name.clone()))
        .map(|(name, kind)| (name, value(&kind)))
        .collect()
}

/// The response without the values that differ between objects.
fn comparable(mut answer: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["id", "owner_id", "created_at", "updated_at", "domain", "email", "owner_email"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut answer);
    answer
}

/// The row's body with these additional names.
fn fresh(row: &Row, number: usize) -> Value {
    let mut body = row.body.clone().unwrap();
    if row.pattern == "/v1/companies" {
        body["domain"] = json!(format!("fresh{number}.example.com"));
    }
    if row.pattern == "/v1/users" {
        body["email"] = json!(format!("fresh{number}@example.com"));
    }
    body
}

fn ignored(answer: &Answer) -> BTreeSet<String> {
    answer.header("x-ignored-fields").unwrap_or_default().split(", ").map(str::to_owned).collect()
}

#[test]
fn column_names_in_a_body_change_nothing_and_are_listed_as_ignored() {
    on_each(|service| {
        let (world, other) = (World::make(service, "zebra"), World::make(service, "okapi"));
        for row in rows(&world).iter().filter(|row| row.body.is_some()) {
            let plain = (row.method == "POST").then(|| added(service, &world, row, &fresh(row, 0)));
            let forged = forged(row, &other.sample.company);
            assert!(forged.len() > 60, "{forged:?}");
            for (number, some) in forged.chunks(20).enumerate() {
                let names: BTreeSet<String> = some.iter().map(|(name, _)| name.clone()).collect();
                let mut body = if row.method == "POST" { fresh(row, number + 1) } else { json!({}) };
                for (name, value) in some {
                    body[name] = value.clone();
                }
                let (answer, rows_added) = match &plain {
                    Some(_) => added(service, &world, row, &body),
                    None => {
                        let before = (world.picture(service), other.picture(service));
                        let answer = call(service, world.provider(), row.method, &row.path, Some(&body));
                        assert_eq!((world.picture(service), other.picture(service)), before, "{}", row.path);
                        (answer, 0)
                    }
                };
                assert_eq!(answer.status, row.success(), "{} {}: {}", row.method, row.path, answer.body);
                assert_eq!(ignored(&answer), names, "{} {}", row.method, row.path);
                assert!(!answer.body.contains("2001-02-03"), "{}", answer.body);
                if let Some((plain, rows_of_plain)) = &plain {
                    assert_eq!(comparable(answer.json()), comparable(plain.json()), "{} {}", row.path, body);
                    assert_eq!(&rows_added, rows_of_plain, "{}", row.path);
                }
            }
        }
    });
}

/// Sends the POST and returns its response and the number of added rows.
fn added(service: &Service, world: &World, row: &Row, body: &Value) -> (Answer, i64) {
    let before = world::rows(service);
    let answer = call(service, world.provider(), row.method, &row.path, Some(body));
    assert_eq!(answer.status, row.success(), "{}: {}", row.path, answer.body);
    (answer, world::rows(service) - before)
}

#[test]
fn a_corporation_admin_is_created_only_in_a_corporation() {
    on_each(|service| {
        let world = World::make(service, "zebra");
        let company = crate::support::company_body("outside.example.com");
        let outside = created(service.post(world.provider(), "/v1/companies", &company));
        for (company, kept) in [(&outside, false), (&world.sample.company, true)] {
            let mut body = world::user(company, "zebra", "eve");
            body["corporation_admin"] = json!(true);
            let made = service.post(world.provider(), "/v1/users", &body).json();
            assert_eq!(made["corporation_admin"], kept, "{made}");
            let path = format!("/v1/users/{}", made["id"].as_str().unwrap());
            for (sent, kept) in [(true, kept), (false, false), (true, kept)] {
                let changed =
                    service.put(world.provider(), &path, &json!({"corporation_admin": sent})).json();
                assert_eq!(changed["corporation_admin"], kept, "{changed}");
                assert_eq!(service.get(world.provider(), &path).json(), changed);
            }
        }
    });
}

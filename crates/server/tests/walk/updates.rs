//! Updates: sent fields change, `null` clears, equal values and `{}` change nothing, and some fields never change.

use serde_json::json;

use super::making::{ANN, CORPORATION, EXAMPLE, GREAT_JOB};
use super::{Walk, with};

pub fn run(walk: &mut Walk<'_>) {
    corporation(walk);
    company(walk);
    occasion(walk);
    user(walk);
    clearing(walk);
}

fn corporation(walk: &mut Walk<'_>) {
    let path = "/v1/corporations/@1";
    let renamed = with(CORPORATION, "Example Group", "Example Holding");
    walk.changes(path, r#"{"name":"Example Holding"}"#, &renamed);
    walk.get(path, &renamed);
    walk.changes_nothing(path, "{}");
    walk.changes_nothing(path, r#"{"name":"Example Holding"}"#);
    assert_eq!(walk.round_trip(path), ["created_at", "id", "updated_at"]);
    refuses(walk, path, &["name"], &json!(null));
    walk.changes(path, r#"{"name":"Example Group"}"#, CORPORATION);
}

/// A PUT of this value is rejected for each field, and the error names the field.
fn refuses(walk: &Walk<'_>, path: &str, fields: &[&str], value: &serde_json::Value) {
    let before = walk.read(path);
    for field in fields {
        let message = walk.send("PUT", path, Some(&json!({ *field: value }).to_string())).error(400);
        assert!(message.starts_with(field), "{path} {field}: {message}");
    }
    assert_eq!(walk.read(path), before, "{path}");
}

fn company(walk: &mut Walk<'_>) {
    let path = "/v1/companies/@2";
    let body = r#"{"company_name":"Example Inc.","logo_url":"https://example.com/new.png","reserve_alert":null,
        "reserve_bcc":null}"#;
    let changed = with(EXAMPLE, r#""Example""#, r#""Example Inc.""#);
    let changed = with(&with(&changed, r#":100"#, ":null"), r#""finance@example.com""#, "null");
    walk.changes(path, body, &changed);
    walk.changes_nothing(path, "{}");
    walk.changes_nothing(path, body);
    walk.changes_nothing(path, r#"{"domain":"EXAMPLE.com","points_per_dollar":50}"#);
    walk.changes_nothing(path, r#"{"owner_email":"Olive@Example.com","owner_name":"Olive Owner"}"#);
    assert_eq!(walk.round_trip(path), ["created_at", "id", "owner_id", "updated_at", "user_count"]);
    refuses(walk, path, &["domain"], &json!("example.org"));
    let required = ["company_name", "owner_email", "owner_name", "logo_url", "points_per_dollar", "domain"];
    refuses(walk, path, &required, &json!(null));
    let back = r#"{"company_name":"Example","reserve_alert":100,"reserve_bcc":"finance@example.com"}"#;
    walk.changes(path, back, EXAMPLE);
}

fn occasion(walk: &mut Walk<'_>) {
    let path = "/v1/occasions/@6";
    let body = r#"{"name":"Well done","title":"You did well","default_message":"Thanks,\n\tall",
        "enabled":false,"visible":false}"#;
    let changed = with(&with(GREAT_JOB, "Great job", "Well done"), "You did a great job", "You did well");
    let changed = with(&with(&changed, "Thank you", r"Thanks,\n\tall"), ":true", ":false");
    walk.changes(path, body, &changed);
    walk.get(path, &changed);
    walk.changes_nothing(path, "{}");
    walk.changes_nothing(path, body);
    assert_eq!(walk.round_trip(path), ["created_at", "global", "id", "updated_at"]);
    refuses(walk, path, &["company_id"], &json!(walk.id(8)));
    let required = ["name", "title", "default_message", "enabled", "visible", "company_id"];
    refuses(walk, path, &required, &json!(null));
    let send = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@4",
        "points_per_receiver": 1,
    });
    let told = walk.send("POST", "/v1/recognitions", Some(&send.to_string())).error(400);
    assert!(told.starts_with("occasion_id"), "{told}");
    let back = r#"{"name":"Great job","title":"You did a great job","default_message":"Thank you",
        "enabled":true,"visible":true}"#;
    walk.changes(path, back, GREAT_JOB);
}

fn user(walk: &mut Walk<'_>) {
    let path = "/v1/users/@4";
    let body = json!({
        "email": "Anna@Example.com", "first_name": "Anna", "last_name": "Leigh", "department": "Sales",
        "title": "Head", "supervisor_email": "nobody@example.net", "employee_id": "7", "birthday": "12/31",
        "country_code": "fra", "work_start_date": "02/29/2024", "office_city": "Paris", "office_state": "IDF",
        "office_country": "France", "manager": false, "company_admin": true, "corporation_admin": true,
        "groups": "a, b", "custom_field_1": "1", "custom_field_2": "2", "custom_field_3": "3",
        "custom_field_4": "4", "custom_field_5": "5",
    });
    let changed = r#"{"id":"@4","company_id":"@2","email":"Anna@Example.com","first_name":"Anna",
        "last_name":"Leigh","department":"Sales","title":"Head","supervisor_email":"nobody@example.net",
        "employee_id":"7","birthday":"12/31","country_code":"FRA","work_start_date":"02/29/2024",
        "office_city":"Paris","office_state":"IDF","office_country":"France","manager":false,
        "company_admin":true,"corporation_admin":true,"groups":"a,b","custom_field_1":"1",
        "custom_field_2":"2","custom_field_3":"3","custom_field_4":"4","custom_field_5":"5",
        "created_at":"@time","updated_at":"@time","deleted_at":null}"#;
    walk.changes(path, &body.to_string(), changed);
    walk.get(path, changed);
    walk.changes_nothing(path, "{}");
    walk.changes_nothing(path, &body.to_string());
    walk.changes_nothing(path, &json!({"company_id": walk.id(2).to_uppercase()}).to_string());
    assert_eq!(walk.round_trip(path), ["created_at", "deleted_at", "id", "updated_at"]);
    assert_eq!(walk.round_trip("/v1/users/@5"), ["created_at", "deleted_at", "id", "updated_at"]);
    refuses(walk, path, &["company_id"], &json!(walk.id(8)));
    let required =
        ["email", "first_name", "last_name", "company_id", "manager", "company_admin", "corporation_admin"];
    refuses(walk, path, &required, &json!(null));
    walk.refused("PUT", path, Some(r#"{"email":"BOB@example.com"}"#), 400, "email has already been taken");
}

/// `null` and the empty string clear fields that may be null.
fn clearing(walk: &mut Walk<'_>) {
    let path = "/v1/users/@4";
    let cleared = with(ANN, "ann@example.com", "Anna@Example.com");
    let cleared = with(&with(&cleared, r#""Ann""#, r#""Anna""#), r#""Lee""#, r#""Leigh""#);
    let cleared = with(&cleared, "_admin\":false", "_admin\":true");
    let body = json!({
        "department": null, "title": "", "supervisor_email": null, "employee_id": "", "birthday": null,
        "country_code": null, "work_start_date": "", "office_city": null, "office_state": "",
        "office_country": null, "groups": null, "custom_field_1": null, "custom_field_2": null,
        "custom_field_3": "", "custom_field_4": null, "custom_field_5": null,
    });
    walk.changes(path, &body.to_string(), &cleared);
    walk.changes_nothing(path, &body.to_string());
    let body = r#"{"email":"ann@example.com","first_name":"Ann","last_name":"Lee","company_admin":false,
        "corporation_admin":false}"#;
    walk.changes(path, body, ANN);
}

/// A manager has an additional wallet and keeps it (behaviour 17.1).
pub fn manager(walk: &mut Walk<'_>) {
    let olive = with(&walk.read("/v1/users/@3").to_string(), r#""manager":false"#, r#""manager":true"#);
    let answer = walk.send("PUT", "/v1/users/@3", Some(r#"{"manager":true}"#));
    let mut now = answer.json();
    now["updated_at"] = walk.read("/v1/users/@3")["updated_at"].clone();
    let mut expected: serde_json::Value = serde_json::from_str(&olive).unwrap();
    expected["updated_at"] = now["updated_at"].clone();
    assert_eq!((answer.status, &now), (200, &expected));
    let wallets = r#"{"id":"@3","wallets":[{"type":"user_wallet","points":0,"cumulative_points_spent":0},
        {"type":"peer_wallet","points":0,"cumulative_points_spent":0},
        {"type":"manager_wallet","points":0,"cumulative_points_spent":0}]}"#;
    walk.get("/v1/users/@3/balances", wallets);
    let words = ["distribution", "run", "@2", "--wallet", "manager_wallet", "--points", "5", "--user", "@3"];
    walk.guerdon(&words);
    let answer = walk.send("PUT", "/v1/users/@3", Some(r#"{"manager":false}"#));
    assert_eq!((answer.status, &answer.json()["manager"]), (200, &json!(false)));
    let wallets = with(wallets, r#""manager_wallet","points":0"#, r#""manager_wallet","points":5"#);
    walk.get("/v1/users/@3/balances", &wallets);
    let send = json!({
        "occasion_id": "@6", "sender_type": "user", "sender_id": "@3", "receiver_ids": "@4",
        "points_per_receiver": 5,
    });
    let send = send.to_string();
    walk.refused("POST", "/v1/recognitions", Some(&send), 400, "Insufficient funds");
}

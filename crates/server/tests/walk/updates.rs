//! Updates: sent fields change, `null` clears, equal values and `{}` change nothing, and some fields never change.

use serde_json::json;

use super::Walk;

pub fn check_updates(walk: &mut Walk<'_>) {
    update_corporation(walk);
    update_company(walk);
    update_occasion(walk);
    update_user(walk);
    clear_fields(walk);
}

fn update_corporation(walk: &mut Walk<'_>) {
    let path = "/v1/corporations/@1";
    walk.put_changed(path, r#"{"name":"Example Holding"}"#);
    walk.get(path);
    walk.put_unchanged(path, "{}");
    walk.put_unchanged(path, r#"{"name":"Example Holding"}"#);
    assert_eq!(walk.write_back(path), ["created_at", "id", "updated_at"]);
    assert_values_refused(walk, path, &["name"], &json!(null));
    walk.put_changed(path, r#"{"name":"Example Group"}"#);
}

/// Checks that a PUT of this value is rejected for each field, and that the error names the field.
fn assert_values_refused(walk: &Walk<'_>, path: &str, fields: &[&str], value: &serde_json::Value) {
    let before = walk.read_json(path);
    for field in fields {
        let message =
            walk.send_request("PUT", path, Some(&json!({ *field: value }).to_string())).expect_error(400);
        assert!(message.starts_with(field), "{path} {field}: {message}");
    }
    assert_eq!(walk.read_json(path), before, "{path}");
}

fn update_company(walk: &mut Walk<'_>) {
    let path = "/v1/companies/@2";
    let body = r#"{"company_name":"Example Inc.","logo_url":"https://example.com/new.png","reserve_alert":null,
        "reserve_bcc":null}"#;
    walk.put_changed(path, body);
    walk.put_unchanged(path, "{}");
    walk.put_unchanged(path, body);
    walk.put_unchanged(path, r#"{"domain":"EXAMPLE.com","points_per_dollar":50}"#);
    walk.put_unchanged(path, r#"{"owner_email":"Olive@Example.com","owner_name":"Olive Owner"}"#);
    assert_eq!(walk.write_back(path), ["created_at", "id", "owner_id", "updated_at", "user_count"]);
    assert_values_refused(walk, path, &["domain"], &json!("example.org"));
    let required = ["company_name", "owner_email", "owner_name", "logo_url", "points_per_dollar", "domain"];
    assert_values_refused(walk, path, &required, &json!(null));
    let back = r#"{"company_name":"Example","reserve_alert":100,"reserve_bcc":"finance@example.com"}"#;
    walk.put_changed(path, back);
}

fn update_occasion(walk: &mut Walk<'_>) {
    let path = "/v1/occasions/@6";
    let body = r#"{"name":"Well done","title":"You did well","default_message":"Thanks,\n\tall",
        "enabled":false,"visible":false}"#;
    walk.put_changed(path, body);
    walk.get(path);
    walk.put_unchanged(path, "{}");
    walk.put_unchanged(path, body);
    assert_eq!(walk.write_back(path), ["created_at", "global", "id", "updated_at"]);
    assert_values_refused(walk, path, &["company_id"], &json!(walk.id_at(8)));
    let required = ["name", "title", "default_message", "enabled", "visible", "company_id"];
    assert_values_refused(walk, path, &required, &json!(null));
    let send = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@4",
        "points_per_receiver": 1,
    });
    let message = walk.send_request("POST", "/v1/recognitions", Some(&send.to_string())).expect_error(400);
    assert!(message.starts_with("occasion_id"), "{message}");
    let back = r#"{"name":"Great job","title":"You did a great job","default_message":"Thank you",
        "enabled":true,"visible":true}"#;
    walk.put_changed(path, back);
}

fn update_user(walk: &mut Walk<'_>) {
    let path = "/v1/users/@4";
    let body = json!({
        "email": "Anna@Example.com", "first_name": "Anna", "last_name": "Leigh", "department": "Sales",
        "title": "Head", "supervisor_email": "nobody@example.net", "employee_id": "7", "birthday": "12/31",
        "country_code": "fra", "work_start_date": "02/29/2024", "office_city": "Paris", "office_state": "IDF",
        "office_country": "France", "manager": false, "company_admin": true, "corporation_admin": true,
        "groups": "a, b", "custom_field_1": "1", "custom_field_2": "2", "custom_field_3": "3",
        "custom_field_4": "4", "custom_field_5": "5",
    });
    walk.put_changed(path, &body.to_string());
    walk.get(path);
    walk.put_unchanged(path, "{}");
    walk.put_unchanged(path, &body.to_string());
    walk.put_unchanged(path, &json!({"company_id": walk.id_at(2).to_uppercase()}).to_string());
    assert_eq!(walk.write_back(path), ["created_at", "deleted_at", "id", "updated_at"]);
    assert_eq!(walk.write_back("/v1/users/@5"), ["created_at", "deleted_at", "id", "updated_at"]);
    assert_values_refused(walk, path, &["company_id"], &json!(walk.id_at(8)));
    let required =
        ["email", "first_name", "last_name", "company_id", "manager", "company_admin", "corporation_admin"];
    assert_values_refused(walk, path, &required, &json!(null));
    walk.assert_refused(
        "PUT",
        path,
        Some(r#"{"email":"BOB@example.com"}"#),
        400,
        "email has already been taken",
    );
}

/// Checks that `null` and the empty string clear fields that may be null.
fn clear_fields(walk: &mut Walk<'_>) {
    let path = "/v1/users/@4";
    let body = json!({
        "department": null, "title": "", "supervisor_email": null, "employee_id": "", "birthday": null,
        "country_code": null, "work_start_date": "", "office_city": null, "office_state": "",
        "office_country": null, "groups": null, "custom_field_1": null, "custom_field_2": null,
        "custom_field_3": "", "custom_field_4": null, "custom_field_5": null,
    });
    walk.put_changed(path, &body.to_string());
    walk.put_unchanged(path, &body.to_string());
    let body = r#"{"email":"ann@example.com","first_name":"Ann","last_name":"Lee","company_admin":false,
        "corporation_admin":false}"#;
    walk.put_changed(path, body);
}

/// A manager has an additional wallet, and keeps it when no longer a manager (behaviour 17.1).
pub fn make_manager(walk: &mut Walk<'_>) {
    walk.put_changed("/v1/users/@3", r#"{"manager":true}"#);
    walk.get("/v1/users/@3/balances");
    let words = ["distribution", "run", "@2", "--wallet", "manager_wallet", "--points", "5", "--user", "@3"];
    walk.run_command(&words);
    let response = walk.send_request("PUT", "/v1/users/@3", Some(r#"{"manager":false}"#));
    assert_eq!((response.status, &response.json()["manager"]), (200, &json!(false)));
    walk.get("/v1/users/@3/balances");
    let send = json!({
        "occasion_id": "@6", "sender_type": "user", "sender_id": "@3", "receiver_ids": "@4",
        "points_per_receiver": 5,
    });
    let send = send.to_string();
    walk.assert_refused("POST", "/v1/recognitions", Some(&send), 400, "Insufficient funds");
}

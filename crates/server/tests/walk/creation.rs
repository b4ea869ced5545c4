//! Creates a corporation, companies, users and occasions.

use serde_json::json;

use super::Walk;

pub fn create_objects(walk: &mut Walk<'_>) {
    walk.post("/v1/corporations", r#"{"name":"Example Group"}"#);
    walk.get("/v1/corporations/@1");
    create_company(walk);
    create_users(walk);
    create_occasions(walk);
    create_plain_company(walk);
}

fn create_company(walk: &mut Walk<'_>) {
    let body = json!({
        "domain": "Example.COM", "company_name": "Example", "owner_email": "Olive@Example.com",
        "owner_name": "Olive Owner", "logo_url": "https://example.com/logo.png", "corporation_id": "@1",
        "reserve_alert": 100, "reserve_bcc": "finance@example.com",
    });
    walk.post("/v1/companies", &body.to_string());
    walk.get("/v1/companies/@2");
    walk.get("/v1/companies/example.com");
    walk.get("/v1/companies/EXAMPLE.com");
    walk.get("/v1/users/@3");
}

fn create_users(walk: &mut Walk<'_>) {
    let ann = r#"{"company_id":"@2","email":"ann@example.com","first_name":"Ann","last_name":"Lee"}"#;
    walk.post("/v1/users", ann);
    let upper_case = format!("/v1/users/{}", walk.id_at(4).to_uppercase());
    walk.get(&upper_case);
    let bob = json!({
        "company_id": "@2", "email": "Bob@Example.com", "first_name": "Bob", "last_name": "Ray",
        "department": "R&D", "title": "Engineer 🛠", "supervisor_email": "ann@example.com", "employee_id": "E-1",
        "birthday": "02/29", "country_code": "de", "work_start_date": "01/15/2020", "office_city": "Köln",
        "office_state": "", "office_country": "Germany", "manager": true, "company_admin": true,
        "corporation_admin": true, "groups": " red, blue,,red ", "custom_field_1": "one",
        "custom_field_2": "two", "custom_field_3": "three", "custom_field_4": "four", "custom_field_5": "five",
    });
    walk.post("/v1/users", &bob.to_string());
    walk.get("/v1/users/@5");
    walk.get("/v1/companies/@2");
}

fn create_occasions(walk: &mut Walk<'_>) {
    let body = r#"{"company_id":"@2","name":"Great job","title":"You did a great job",
        "default_message":"Thank you"}"#;
    walk.post("/v1/occasions", body);
    walk.get("/v1/occasions/@6");
    let words = ["occasion", "create-global", "--name", "Birthday", "--title", "Happy birthday"];
    let occasion =
        walk.service.run_json_command(&[&words[..], &["--default-message", "Many happy returns"]].concat());
    let path = format!("/v1/occasions/{}", occasion["id"].as_str().unwrap());
    walk.get(&path);
    assert_eq!(occasion, walk.read_json("/v1/occasions/@7"));
    walk.assert_refused(
        "PUT",
        "/v1/occasions/@7",
        Some("{}"),
        403,
        "a global occasion cannot be changed: id @7",
    );
    walk.assert_refused(
        "DELETE",
        "/v1/occasions/@7",
        None,
        403,
        "a global occasion cannot be changed: id @7",
    );
}

fn create_plain_company(walk: &mut Walk<'_>) {
    let body = json!({
        "domain": "plain.example.org", "company_name": "Plain", "owner_email": "cher@example.org",
        "owner_name": "Cher", "logo_url": "https://example.org/logo.png", "corporation_id": null,
        "points_per_dollar": 7,
    });
    walk.post("/v1/companies", &body.to_string());
    walk.get("/v1/companies/@8");
    walk.get("/v1/users/@9");
    walk.put("/v1/users/@9", r#"{"corporation_admin":true}"#);
    let dora = r#"{"company_id":"@8","email":"dora@example.org","first_name":"Dora","last_name":"Doe",
        "corporation_admin":true}"#;
    assert_eq!(walk.send_request("POST", "/v1/users", Some(dora)).json()["corporation_admin"], false);
    walk.write_back("/v1/users/@9");
    walk.write_back("/v1/companies/@8");
}

//! Creates a corporation, companies, users and occasions.

use serde_json::json;

use super::{Walk, replace_part};

pub const CORPORATION: &str =
    r#"{"id":"@1","name":"Example Group","created_at":"@time","updated_at":"@time"}"#;
pub const EXAMPLE: &str = r#"{"id":"@2","domain":"example.com","company_name":"Example","owner_id":"@3",
    "owner_email":"Olive@Example.com","owner_name":"Olive Owner","reserve_alert":100,
    "reserve_bcc":"finance@example.com","created_at":"@time","updated_at":"@time"}"#;
pub const PLAIN: &str = r#"{"id":"@8","domain":"plain.example.org","company_name":"Plain","owner_id":"@9",
    "owner_email":"cher@example.org","owner_name":"Cher","reserve_alert":null,"reserve_bcc":null,
    "created_at":"@time","updated_at":"@time"}"#;
pub const ANN: &str = r#"{"id":"@4","company_id":"@2","email":"ann@example.com","first_name":"Ann",
    "last_name":"Lee","department":null,"title":null,"supervisor_email":null,"employee_id":null,"birthday":null,
    "country_code":null,"work_start_date":null,"office_city":null,"office_state":null,"office_country":null,
    "manager":false,"company_admin":false,"corporation_admin":false,"groups":null,"custom_field_1":null,
    "custom_field_2":null,"custom_field_3":null,"custom_field_4":null,"custom_field_5":null,
    "created_at":"@time","updated_at":"@time","deleted_at":null}"#;
pub const BOB: &str = r#"{"id":"@5","company_id":"@2","email":"Bob@Example.com","first_name":"Bob",
    "last_name":"Ray","department":"R&D","title":"Engineer 🛠","supervisor_email":"ann@example.com",
    "employee_id":"E-1","birthday":"02/29","country_code":"DE","work_start_date":"01/15/2020",
    "office_city":"Köln","office_state":null,"office_country":"Germany","manager":true,"company_admin":true,
    "corporation_admin":true,"groups":"red,blue","custom_field_1":"one","custom_field_2":"two",
    "custom_field_3":"three","custom_field_4":"four","custom_field_5":"five",
    "created_at":"@time","updated_at":"@time","deleted_at":null}"#;
pub const GREAT_JOB: &str = r#"{"id":"@6","company_id":"@2","name":"Great job","title":"You did a great job",
    "default_message":"Thank you","enabled":true,"visible":true,"global":false,
    "created_at":"@time","updated_at":"@time"}"#;
pub const BIRTHDAY: &str = r#"{"id":"@7","company_id":null,"name":"Birthday","title":"Happy birthday",
    "default_message":"Many happy returns","enabled":true,"visible":true,"global":true,
    "created_at":"@time","updated_at":"@time"}"#;

pub fn create_objects(walk: &mut Walk<'_>) {
    walk.post("/v1/corporations", r#"{"name":"Example Group"}"#, CORPORATION);
    walk.get("/v1/corporations/@1", CORPORATION);
    create_company(walk);
    create_users(walk);
    create_occasions(walk);
    create_plain_company(walk);
}

/// The fields that only the response to fetching a company contains.
pub fn fetched_company(company: &str, user_count: u32, points_per_dollar: u32) -> String {
    let figures =
        format!(r#""user_count":{user_count},"points_per_dollar":{points_per_dollar},"created_at""#);
    replace_part(company, r#""created_at""#, &figures)
}

fn create_company(walk: &mut Walk<'_>) {
    let body = json!({
        "domain": "Example.COM", "company_name": "Example", "owner_email": "Olive@Example.com",
        "owner_name": "Olive Owner", "logo_url": "https://example.com/logo.png", "corporation_id": "@1",
        "reserve_alert": 100, "reserve_bcc": "finance@example.com",
    });
    walk.post("/v1/companies", &body.to_string(), EXAMPLE);
    let expected = fetched_company(EXAMPLE, 1, 50);
    walk.get("/v1/companies/@2", &expected);
    walk.get("/v1/companies/example.com", &expected);
    walk.get("/v1/companies/EXAMPLE.com", &expected);
    let olive = replace_part(ANN, "@4", "@3");
    let olive = replace_part(&olive, "ann@example.com", "Olive@Example.com");
    let olive = replace_part(&replace_part(&olive, r#""Ann""#, r#""Olive""#), r#""Lee""#, r#""Owner""#);
    let olive = replace_part(&olive, r#""company_admin":false"#, r#""company_admin":true"#);
    walk.get("/v1/users/@3", &olive);
}

fn create_users(walk: &mut Walk<'_>) {
    let ann = r#"{"company_id":"@2","email":"ann@example.com","first_name":"Ann","last_name":"Lee"}"#;
    walk.post("/v1/users", ann, ANN);
    let upper_case = format!("/v1/users/{}", walk.id_at(4).to_uppercase());
    walk.get(&upper_case, ANN);
    let bob = json!({
        "company_id": "@2", "email": "Bob@Example.com", "first_name": "Bob", "last_name": "Ray",
        "department": "R&D", "title": "Engineer 🛠", "supervisor_email": "ann@example.com", "employee_id": "E-1",
        "birthday": "02/29", "country_code": "de", "work_start_date": "01/15/2020", "office_city": "Köln",
        "office_state": "", "office_country": "Germany", "manager": true, "company_admin": true,
        "corporation_admin": true, "groups": " red, blue,,red ", "custom_field_1": "one",
        "custom_field_2": "two", "custom_field_3": "three", "custom_field_4": "four", "custom_field_5": "five",
    });
    walk.post("/v1/users", &bob.to_string(), BOB);
    walk.get("/v1/users/@5", BOB);
    walk.get("/v1/companies/@2", &fetched_company(EXAMPLE, 3, 50));
}

fn create_occasions(walk: &mut Walk<'_>) {
    let body = r#"{"company_id":"@2","name":"Great job","title":"You did a great job",
        "default_message":"Thank you"}"#;
    walk.post("/v1/occasions", body, GREAT_JOB);
    walk.get("/v1/occasions/@6", GREAT_JOB);
    let words = ["occasion", "create-global", "--name", "Birthday", "--title", "Happy birthday"];
    let occasion =
        walk.service.run_json_command(&[&words[..], &["--default-message", "Many happy returns"]].concat());
    let path = format!("/v1/occasions/{}", occasion["id"].as_str().unwrap());
    walk.get(&path, BIRTHDAY);
    assert_eq!(occasion, walk.read_json("/v1/occasions/@7"));
    walk.assert_refused("PUT", "/v1/occasions/@7", Some("{}"), 403, "a global occasion cannot be changed");
    walk.assert_refused("DELETE", "/v1/occasions/@7", None, 403, "a global occasion cannot be changed");
}

fn create_plain_company(walk: &mut Walk<'_>) {
    let body = json!({
        "domain": "plain.example.org", "company_name": "Plain", "owner_email": "cher@example.org",
        "owner_name": "Cher", "logo_url": "https://example.org/logo.png", "corporation_id": null,
        "points_per_dollar": 7,
    });
    walk.post("/v1/companies", &body.to_string(), PLAIN);
    walk.get("/v1/companies/@8", &fetched_company(PLAIN, 1, 7));
    let cher = replace_part(ANN, "@4", "@9");
    let cher = replace_part(&replace_part(&cher, "@2", "@8"), "ann@example.com", "cher@example.org");
    let cher = replace_part(&replace_part(&cher, r#""Ann""#, r#""Cher""#), r#""Lee""#, r#""""#);
    let cher = replace_part(&cher, r#""company_admin":false"#, r#""company_admin":true"#);
    walk.get("/v1/users/@9", &cher);
    walk.put("/v1/users/@9", r#"{"corporation_admin":true}"#, &cher);
    let dora = r#"{"company_id":"@8","email":"dora@example.org","first_name":"Dora","last_name":"Doe",
        "corporation_admin":true}"#;
    assert_eq!(walk.send_request("POST", "/v1/users", Some(dora)).json()["corporation_admin"], false);
    walk.write_back("/v1/users/@9");
    walk.write_back("/v1/companies/@8");
}

//! A provider's engineer starts the service and sends a recognition: each answer's status and whole body.

use serde_json::json;

use crate::support::scribe::Scribe;
use crate::support::service::{Answer, Service};
use crate::support::{company_body, occasion_body, on_each};

fn check(scribe: &mut Scribe, answer: &Answer, status: u16, body: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    let body: String = body.lines().map(str::trim_start).collect();
    assert_eq!(scribe.write(&answer.body), body);
}

#[test]
fn a_recognition_is_sent_for_real() {
    on_each(walk);
}

fn walk(service: &mut Service) {
    let provider = service.provider("Acme", true);
    let mut scribe = Scribe::default();
    let s = &mut scribe;

    // A company, whose owner is its first user.
    let made = service.post(&provider, "/v1/companies", &company_body("Example.COM"));
    let company_fields = r#"{"id":"@1","domain":"example.com","company_name":"Example","owner_id":"@2",
        "owner_email":"olive@example.com","owner_name":"Olive Owner","reserve_alert":null,"reserve_bcc":null,
        "created_at":"@time","updated_at":"@time"}"#;
    check(s, &made, 201, company_fields);
    let company = s.id(1).to_owned();
    let fetched = r#"{"id":"@1","domain":"example.com","company_name":"Example","owner_id":"@2",
        "owner_email":"olive@example.com","owner_name":"Olive Owner","reserve_alert":null,"reserve_bcc":null,
        "user_count":1,"points_per_dollar":50,"created_at":"@time","updated_at":"@time"}"#;
    check(s, &service.get(&provider, &format!("/v1/companies/{company}")), 200, fetched);
    check(s, &service.get(&provider, "/v1/companies/example.com"), 200, fetched);

    // Two users: one with nothing but the required fields, one with all.
    let ann =
        json!({"company_id": company, "email": "ann@example.com", "first_name": "Ann", "last_name": "Lee"});
    let ann_fields = r#"{"id":"@3","company_id":"@1","email":"ann@example.com","first_name":"Ann","last_name":"Lee",
        "department":null,"title":null,"supervisor_email":null,"employee_id":null,"birthday":null,
        "country_code":null,"work_start_date":null,"office_city":null,"office_state":null,"office_country":null,
        "manager":false,"company_admin":false,"corporation_admin":false,"groups":null,"custom_field_1":null,
        "custom_field_2":null,"custom_field_3":null,"custom_field_4":null,"custom_field_5":null,
        "created_at":"@time","updated_at":"@time","deleted_at":null}"#;
    check(s, &service.post(&provider, "/v1/users", &ann), 201, ann_fields);
    let ann = s.id(3).to_owned();
    check(s, &service.get(&provider, &format!("/v1/users/{}", ann.to_uppercase())), 200, ann_fields);
    let bob = json!({
        "company_id": company, "email": "Bob@Example.com", "first_name": "Bob", "last_name": "Ray",
        "department": "R&D", "title": "Engineer 🛠", "supervisor_email": "ann@example.com", "employee_id": "E-1",
        "birthday": "02/29", "country_code": "de", "work_start_date": "01/15/2020", "office_city": "Köln",
        "office_state": "", "office_country": "Germany", "manager": true, "company_admin": true,
        "corporation_admin": true, "groups": " red, blue,,red ", "custom_field_1": "one", "custom_field_5": "five",
    });
    let bob_fields = r#"{"id":"@4","company_id":"@1","email":"Bob@Example.com","first_name":"Bob","last_name":"Ray",
        "department":"R&D","title":"Engineer 🛠","supervisor_email":"ann@example.com","employee_id":"E-1",
        "birthday":"02/29","country_code":"DE","work_start_date":"01/15/2020","office_city":"Köln",
        "office_state":null,"office_country":"Germany","manager":true,"company_admin":true,
        "corporation_admin":false,"groups":"red,blue","custom_field_1":"one","custom_field_2":null,
        "custom_field_3":null,"custom_field_4":null,"custom_field_5":"five",
        "created_at":"@time","updated_at":"@time","deleted_at":null}"#;
    check(s, &service.post(&provider, "/v1/users", &bob), 201, bob_fields);
    let bob = s.id(4).to_owned();

    let occasion_fields = r#"{"id":"@5","company_id":"@1","name":"Great job","title":"You did a great job",
        "default_message":"Thank you","enabled":true,"visible":true,"global":false,
        "created_at":"@time","updated_at":"@time"}"#;
    check(s, &service.post(&provider, "/v1/occasions", &occasion_body(&company)), 201, occasion_fields);
    let occasion = s.id(5).to_owned();
    check(s, &service.get(&provider, &format!("/v1/occasions/{occasion}")), 200, occasion_fields);

    // Money comes in, is distributed, and is given away.
    let reserve = service.json(&["reserve", "deposit", &company, "--points", "1000"]);
    assert_eq!(reserve, json!({"company_id": company, "points": 1000}));
    let run = ["distribution", "run", &company, "--wallet", "peer_wallet", "--points", "40", "--user", &ann];
    assert_eq!(service.json(&run), json!({"company_id": company, "users": 1, "points": 40}));
    let body = json!({
        "occasion_id": occasion, "sender_type": "user", "sender_id": ann, "receiver_ids": bob,
        "points_per_receiver": 15, "message": "Well done,\n\"Bob\"", "share": false,
    });
    let sent = r#"{"recognitions":[{"id":"@6","receiver_id":"@4","sender_type":"user","sender_id":"@3",
        "message":"Well done,\n\"Bob\"","points":15,"share":false,"occasion_id":"@5","company_id":"@1",
        "created_at":"@time"}]}"#;
    check(s, &service.post(&provider, "/v1/recognitions", &body), 201, sent);
    let body = json!({
        "occasion_id": occasion, "sender_type": "company", "sender_id": company,
        "receiver_ids": format!("{bob}, {ann}"), "points_per_receiver": 100,
    });
    let sent = r#"{"recognitions":[{"id":"@7","receiver_id":"@4","sender_type":"company","sender_id":"@1",
        "message":"Thank you","points":100,"share":true,"occasion_id":"@5","company_id":"@1","created_at":"@time"},
        {"id":"@8","receiver_id":"@3","sender_type":"company","sender_id":"@1","message":"Thank you","points":100,
        "share":true,"occasion_id":"@5","company_id":"@1","created_at":"@time"}]}"#;
    check(s, &service.post(&provider, "/v1/recognitions", &body), 201, sent);

    balances(service, s, &provider);
    deletion(service, s, &provider);
    assert_eq!(service.json(&["reserve", "show", &company]), json!({"company_id": company, "points": 875}));
}

fn balances(service: &Service, s: &mut Scribe, provider: &crate::support::service::Provider) {
    let (ann, bob) = (s.id(3).to_owned(), s.id(4).to_owned());
    let body = r#"{"id":"@3","wallets":[{"type":"user_wallet","points":100,"cumulative_points_spent":0},
        {"type":"peer_wallet","points":25,"cumulative_points_spent":15}]}"#;
    check(s, &service.get(provider, &format!("/v1/users/{ann}/balances")), 200, body);
    let body = r#"{"id":"@4","wallets":[{"type":"user_wallet","points":115,"cumulative_points_spent":0},
        {"type":"peer_wallet","points":0,"cumulative_points_spent":0},
        {"type":"manager_wallet","points":0,"cumulative_points_spent":0}]}"#;
    check(s, &service.get(provider, &format!("/v1/users/{bob}/balances")), 200, body);
    let body = r#"{"id":"@4","type":"user_wallet","transactions":[
        {"type":"credit","points":100,"reason":"recognition","created_at":"@time"},
        {"type":"credit","points":15,"reason":"recognition","created_at":"@time"}]}"#;
    check(s, &service.get(provider, &format!("/v1/users/{bob}/transactions?type=user_wallet")), 200, body);
    let body = r#"{"id":"@3","type":"manager_wallet","transactions":[]}"#;
    check(s, &service.get(provider, &format!("/v1/users/{ann}/transactions?type=manager_wallet")), 200, body);
}

fn deletion(service: &Service, s: &mut Scribe, provider: &crate::support::service::Provider) {
    let bob = s.id(4).to_owned();
    let path = format!("/v1/users/{bob}");
    check(s, &service.delete(provider, &path), 204, "");
    check(s, &service.delete(provider, &path), 204, "");
    let answer = service.get(provider, &path);
    assert!(answer.json()["deleted_at"].is_string(), "{}", answer.body);
    let body = r#"{"id":"@4","wallets":[{"type":"user_wallet","points":0,"cumulative_points_spent":115},
        {"type":"peer_wallet","points":0,"cumulative_points_spent":0},
        {"type":"manager_wallet","points":0,"cumulative_points_spent":0}]}"#;
    check(s, &service.get(provider, &format!("{path}/balances")), 200, body);
    let body = r#"{"id":"@4","type":"user_wallet","transactions":[
        {"type":"debit","points":115,"reason":"user deleted","created_at":"@time"},
        {"type":"credit","points":100,"reason":"recognition","created_at":"@time"}]}"#;
    let answer = service.get(provider, &format!("{path}/transactions?type=user_wallet&per_page=2"));
    check(s, &answer, 200, body);
    assert!(answer.header("link").unwrap().contains("rel=\"next\""), "{:?}", answer.headers);
}

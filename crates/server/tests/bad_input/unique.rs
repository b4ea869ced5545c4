//! Unique values: domains across the service, emails among a company's active users.

use serde_json::json;

use super::for_each_input_fixture;
use crate::support::{company_body, created_id, user_body};

#[test]
fn domains_are_unique_across_spellings() {
    for_each_input_fixture(|fixture| {
        let other = fixture.service.create_provider("Other", true);
        created_id(fixture.post("/v1/companies", &company_body("bücher.example.com")));
        fixture.assert_nothing_changes(|| {
            for form in [
                "bücher.example.com",
                "BÜCHER.Example.Com",
                "xn--bcher-kva.example.com",
                "XN--BCHER-KVA.example.com",
                "bu\u{308}cher.example.com",
                "zebra.example.com",
                "ZEBRA.example.com",
                "zebra。example。com",
            ] {
                let body = company_body(form);
                assert_eq!(
                    fixture.post("/v1/companies", &body).expect_error(400),
                    "domain has already been taken",
                    "{form}"
                );
                let response = fixture.service.post(&other, "/v1/companies", &body);
                assert_eq!(response.expect_error(400), "domain has already been taken", "{form}");
            }
        });
        for form in ["bücher.example.com", "B%C3%BCCHER.example.com", "XN--bcher-kva.Example.com"] {
            let path = format!("/v1/companies/{}", form.replace('ü', "%C3%BC"));
            assert_eq!(fixture.get(&path).json()["domain"], "xn--bcher-kva.example.com", "{form}");
        }
    });
}

#[test]
fn emails_are_unique_regardless_of_case() {
    for_each_input_fixture(|fixture| {
        let company = &fixture.sample.company;
        let taken = [
            "ann@zebra.example.com",
            "ANN@ZEBRA.EXAMPLE.COM",
            "olive@zebra.example.com",
            "Olive@Zebra.Example.com",
        ];
        let bob = format!("/v1/users/{}", fixture.sample.users[1]);
        fixture.assert_nothing_changes(|| {
            for email in taken {
                let mut body = user_body(company, "x");
                body["email"] = json!(email);
                assert_eq!(
                    fixture.post("/v1/users", &body).expect_error(400),
                    "email has already been taken",
                    "{email}"
                );
                assert_eq!(
                    fixture.put(&bob, &json!({"email": email})).expect_error(400),
                    "email has already been taken"
                );
            }
            assert_eq!(fixture.put(&bob, &json!({"email": "BOB@zebra.example.com"})).status, 200);
            assert_eq!(fixture.put(&bob, &json!({"email": "bob@zebra.example.com"})).status, 200);
        });
    });
}

#[test]
fn an_email_is_free_in_another_company_and_after_a_deletion() {
    for_each_input_fixture(|fixture| {
        let other = created_id(fixture.post("/v1/companies", &company_body("other.example.com")));
        let with = |company: &str| {
            let mut body = user_body(company, "x");
            body["email"] = json!("spare@zebra.example.com");
            fixture.post("/v1/users", &body)
        };
        assert_eq!(with(&other).status, 201);
        assert_eq!(with(&fixture.sample.company).status, 400);
        assert_eq!(
            fixture.send_request("DELETE", &format!("/v1/users/{}", fixture.spare_user), None).status,
            204
        );
        assert_eq!(with(&fixture.sample.company).status, 201);
        assert_eq!(with(&fixture.sample.company).expect_error(400), "email has already been taken");
    });
}

//! Unique values: domains across the service, emails among a company's active users.

use serde_json::json;

use super::on_bench;
use crate::support::{company_body, created, user_body};

#[test]
fn domains_are_unique_across_spellings() {
    on_bench(|bench| {
        let other = bench.service.provider("Other", true);
        created(bench.post("/v1/companies", &company_body("bücher.example.com")));
        bench.unchanged(|| {
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
                    bench.post("/v1/companies", &body).error(400),
                    "domain has already been taken",
                    "{form}"
                );
                let answer = bench.service.post(&other, "/v1/companies", &body);
                assert_eq!(answer.error(400), "domain has already been taken", "{form}");
            }
        });
        for form in ["bücher.example.com", "B%C3%BCCHER.example.com", "XN--bcher-kva.Example.com"] {
            let path = format!("/v1/companies/{}", form.replace('ü', "%C3%BC"));
            assert_eq!(bench.get(&path).json()["domain"], "xn--bcher-kva.example.com", "{form}");
        }
    });
}

#[test]
fn emails_are_unique_regardless_of_case() {
    on_bench(|bench| {
        let company = &bench.sample.company;
        let taken = [
            "ann@zebra.example.com",
            "ANN@ZEBRA.EXAMPLE.COM",
            "olive@zebra.example.com",
            "Olive@Zebra.Example.com",
        ];
        let bob = format!("/v1/users/{}", bench.sample.users[1]);
        bench.unchanged(|| {
            for email in taken {
                let mut body = user_body(company, "x");
                body["email"] = json!(email);
                assert_eq!(
                    bench.post("/v1/users", &body).error(400),
                    "email has already been taken",
                    "{email}"
                );
                assert_eq!(
                    bench.put(&bob, &json!({"email": email})).error(400),
                    "email has already been taken"
                );
            }
            assert_eq!(bench.put(&bob, &json!({"email": "BOB@zebra.example.com"})).status, 200);
            assert_eq!(bench.put(&bob, &json!({"email": "bob@zebra.example.com"})).status, 200);
        });
    });
}

#[test]
fn an_email_is_free_in_another_company_and_after_a_deletion() {
    on_bench(|bench| {
        let other = created(bench.post("/v1/companies", &company_body("other.example.com")));
        let with = |company: &str| {
            let mut body = user_body(company, "x");
            body["email"] = json!("spare@zebra.example.com");
            bench.post("/v1/users", &body)
        };
        assert_eq!(with(&other).status, 201);
        assert_eq!(with(&bench.sample.company).status, 400);
        assert_eq!(bench.call("DELETE", &format!("/v1/users/{}", bench.spare_user), None).status, 204);
        assert_eq!(with(&bench.sample.company).status, 201);
        assert_eq!(with(&bench.sample.company).error(400), "email has already been taken");
    });
}

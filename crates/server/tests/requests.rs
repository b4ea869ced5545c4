//! Bad requests: the exact status, every fault named, nothing changed.

use serde_json::{Value, json};

use crate::support::{Sample, company_body, on_each, user_body};

#[test]
fn a_body_that_is_no_json_object_is_400() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(500), "]".repeat(500));
        let bodies = [
            "",
            " ",
            "{",
            "[]",
            "1",
            "null",
            "\"x\"",
            "{} {}",
            "{}x",
            "{\"a\":1,\"a\":2}",
            "\u{feff}{}",
            "{\"first_name\":\"\\ud800\"}",
            "{'a':1}",
            "{\"a\":{\"b\":1,\"b\":2}}",
            deep.as_str(),
        ];
        for body in bodies {
            service.post_text(&sample.provider, "/v1/users", body, &[]).error(400);
        }
        let large = format!("{{\"x\":\"{}\"}}", "x".repeat(1 << 20));
        let answer = service.post_text(&sample.provider, "/v1/users", &large, &[]);
        answer.error(400);
        assert_eq!(answer.header("connection"), Some("close"));
    });
}

#[test]
fn only_json_in_utf_8_without_encoding_is_taken() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let body = user_body(&sample.company, "ann").to_string();
        let post =
            |headers: &[(&str, &str)]| service.post_text(&sample.provider, "/v1/users", &body, headers);
        post(&[("Content-Type", "text/plain")]).error(400);
        post(&[("Content-Type", "application/json; charset=latin1")]).error(400);
        post(&[("Content-Encoding", "gzip")]).error(400);
        assert_eq!(post(&[("Content-Type", "Application/JSON; charset=\"UTF-8\"")]).status, 201);
    });
}

#[test]
fn every_fault_is_named_at_once() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let body = json!({
            "company_id": 7, "email": "nobody", "last_name": "x\ny", "manager": "true", "birthday": "02/30",
            "country_code": "XX", "work_start_date": "13/01/2020", "title": "x".repeat(256),
        });
        let message = service.post(&sample.provider, "/v1/users", &body).error(400);
        for field in [
            "company_id",
            "email",
            "first_name",
            "last_name",
            "manager",
            "birthday",
            "country_code",
            "work_start_date",
            "title",
        ] {
            assert!(message.split("; ").any(|it| it.starts_with(field)), "{field}: {message}");
        }
    });
}

#[test]
fn types_are_not_coerced() {
    on_each(|service| {
        let provider = service.provider("Acme", true);
        let check = |field: &str, value: Value| {
            let mut body = company_body("types.example.com");
            body[field] = value.clone();
            let message = service.post(&provider, "/v1/companies", &body).error(400);
            assert!(message.starts_with(field), "{value}: {message}");
        };
        for value in [json!("10"), json!(10.0), json!(true), json!([]), json!(0), json!(10_001), json!(-1)] {
            check("points_per_dollar", value);
        }
        check("points_per_dollar", json!(9_223_372_036_854_775_808_u64));
        check("reserve_alert", json!(-1));
        check("reserve_alert", json!(9_223_372_036_854_775_808_u64));
        check("domain", json!("localhost"));
        check("domain", json!("192.0.2.1"));
        check("logo_url", json!("ftp://example.com/x"));
        check("logo_url", json!("https://user@example.com/x"));
        check("owner_email", Value::Null);
        check("company_name", json!("   "));
        check("company_name", json!("a\u{0}b"));
        let mut body = company_body("types.example.com");
        body["points_per_dollar"] = Value::Null;
        body["reserve_alert"] = Value::Null;
        assert_eq!(service.post(&provider, "/v1/companies", &body).status, 201);
    });
}

#[test]
fn unknown_fields_are_ignored_and_named() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let mut body = user_body(&sample.company, "ann");
        body["id"] = json!("0193a5c0-0000-7000-8000-000000000001");
        body["nickname"] = json!("x");
        body["bad name"] = json!("x");
        let answer = service.post(&sample.provider, "/v1/users", &body);
        assert_eq!(answer.status, 201, "{}", answer.body);
        assert_ne!(answer.json()["id"], body["id"]);
        let mut ignored: Vec<&str> = answer.header("x-ignored-fields").unwrap().split(", ").collect();
        ignored.sort_unstable();
        assert_eq!(ignored, ["id", "nickname"]);
    });
}

#[test]
fn paths_and_queries_are_judged_as_the_contract_says() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        let user = &sample.users[0];
        let check = |path: &str, status: u16| {
            let answer = service.get(&sample.provider, path);
            assert_eq!(answer.status, status, "{path}: {}", answer.body);
        };
        check(&format!("/v1/users/{}", user.replace('-', "")), 404);
        check(&format!("/v1/users/%7B{user}%7D"), 404);
        check("/v1/users/1", 404);
        check("/v1/users/%00", 404);
        check("/v1/users/..%2fusers", 404);
        check("/v1/companies/no%20such", 404);
        check("/v1/companies/absent.example.com", 404);
        let transactions =
            |query: &str, status: u16| check(&format!("/v1/users/{user}/transactions?{query}"), status);
        transactions("", 400);
        transactions("type=reserve", 400);
        transactions("type=peer_wallet&type=peer_wallet", 400);
        for page in ["0", "-1", "abc", "1.0", "", "9223372036854775808"] {
            transactions(&format!("type=peer_wallet&page={page}"), 400);
            transactions(&format!("type=peer_wallet&per_page={page}"), 400);
        }
        transactions("type=peer_wallet&page=1&page=2", 400);
        transactions("type=peer_wallet&page=9223372036854775807&per_page=101&other=1", 200);
        let answer = service
            .get(&sample.provider, &format!("/v1/users/{user}/transactions?type=peer_wallet&per_page=500"));
        assert!(answer.header("link").unwrap().contains("per_page=100"), "{:?}", answer.headers);
    });
}

#[test]
fn head_answers_as_get_without_the_body() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let authorization = crate::support::service::basic(&sample.provider);
        let path = format!("/v1/companies/{}", sample.company);
        let answer = service.running.request("HEAD", &path, &[("Authorization", &authorization)], None);
        assert_eq!((answer.status, answer.body.as_str()), (200, ""));
        let answer = service.running.request("PATCH", &path, &[("Authorization", &authorization)], None);
        answer.error(405);
    });
}

#[test]
fn what_is_taken_is_taken() {
    on_each(|service| {
        let sample = Sample::make(service, 0);
        let other = service.provider("Other", true);
        let domain =
            service.get(&sample.provider, &format!("/v1/companies/{}", sample.company)).json()["domain"]
                .clone();
        let body = company_body(domain.as_str().unwrap());
        assert_eq!(service.post(&other, "/v1/companies", &body).error(400), "domain has already been taken");
        assert_eq!(
            service.post(&sample.provider, "/v1/users", &user_body(&sample.company, "ann")).status,
            201
        );
        let again = service.post(&sample.provider, "/v1/users", &user_body(&sample.company, "ANN"));
        assert_eq!(again.error(400), "email has already been taken");
    });
}

//! Queries: pages, wallet types, ids (behaviour 5.4, 6.1, 17.4).

use serde_json::Value;

use super::{InputFixture, for_each_input_fixture, reports_field};

/// The path and the maximum page size of every paged list.
fn paged_lists(fixture: &InputFixture<'_>) -> Vec<(String, i64)> {
    let (company, user) = (&fixture.sample.company, &fixture.sample.users[0]);
    vec![
        ("/v1/companies?".into(), 1_000),
        (format!("/v1/companies?corporation_id={}&", fixture.corporation), 1_000),
        (format!("/v1/companies/{company}/users/balances?"), 100),
        (format!("/v1/companies/{company}/occasions?"), 1_000),
        ("/v1/corporations?".into(), 1_000),
        (format!("/v1/corporations/{}/companies?", fixture.corporation), 1_000),
        (format!("/v1/users/{user}/transactions?type=user_wallet&"), 100),
        (format!("/v1/users/{user}/recognitions_received?"), 100),
        (format!("/v1/users/{user}/recognitions_sent?"), 100),
    ]
}

const INVALID_PAGES: &[&str] = &[
    "",
    "0",
    "00",
    "-1",
    "-0",
    "%2B1",
    "+1",
    "abc",
    "1.0",
    "1e2",
    "0x1",
    "1_000",
    "1,000",
    "%201",
    "1%20",
    "%00",
    "1%00",
    "%D9%A1",
    "%EF%BC%91",
    "null",
    "true",
    "NaN",
    "9223372036854775808x",
    "%ff",
    "1%C3",
    "%zz",
    "%",
    "1;2",
    "[1]",
    "'%20OR%201=1--",
];

/// Integers that 64 bits cannot hold: no page has such a number, but `per_page` and `limit` are reduced.
const LARGE_NUMBERS: &[&str] =
    &["9223372036854775808", "18446744073709551617", "99999999999999999999999999999999999999999"];

#[test]
fn queries_are_validated_and_pages_are_limited() {
    for_each_input_fixture(|fixture| {
        check_invalid_pages(fixture);
        check_page_limits(fixture);
        check_large_limits(fixture);
        check_encodings(fixture);
        check_wallet_types(fixture);
        check_corporation_ids(fixture);
    });
}

/// Checks that an invalid page is 400 and that the error names the parameter.
fn check_invalid_pages(fixture: &InputFixture<'_>) {
    for (list, _) in paged_lists(fixture) {
        for name in ["page", "per_page"] {
            for value in INVALID_PAGES {
                let response = fixture.get(&format!("{list}{name}={value}"));
                assert_eq!(response.status, 400, "{list}{name}={value}: {}", response.body);
                assert!(
                    reports_field(&response.expect_error(400), name),
                    "{list}{name}={value}: {}",
                    response.body
                );
            }
            for twice in ["=1&page=2", "=1&page=1", "=1&p%61ge=2", "&page", "=&page=1"] {
                let message = fixture
                    .get(&format!("{list}{name}{}", twice.replace("page", name).replace("p%61ge", name)))
                    .expect_error(400);
                assert!(reports_field(&message, name), "{list}{twice}: {message}");
            }
        }
        for value in LARGE_NUMBERS {
            let message = fixture.get(&format!("{list}page={value}")).expect_error(400);
            assert!(reports_field(&message, "page"), "{list}page={value}: {message}");
        }
        let message = fixture.get(&format!("{list}page=0&per_page=x")).expect_error(400);
        assert!(reports_field(&message, "page") && reports_field(&message, "per_page"), "{message}");
    }
}

/// Checks that pages are limited, and empty past the end.
fn check_page_limits(fixture: &InputFixture<'_>) {
    for (list, most) in paged_lists(fixture) {
        let whole = fixture.get(&list);
        assert_eq!(whole.status, 200, "{list}: {}", whole.body);
        for (query, page, per_page, is_empty) in [
            ("", 1, 100, false),
            ("unknown=1&unknown=2&Page=0&PAGE=x&per-page=x&x=%ff&%00=1&=&&", 1, 100, false),
            ("page=1&per_page=1", 1, 1, false),
            ("%70age=%31&per%5Fpage=%31%30", 1, 10, false),
            ("per_page=100", 1, 100, false),
            ("per_page=101", 1, most.min(101), false),
            ("per_page=1000", 1, most, false),
            ("per_page=1001", 1, most, false),
            ("per_page=9223372036854775807", 1, most, false),
            ("per_page=9223372036854775808", 1, most, false),
            ("per_page=99999999999999999999999999999999999999999", 1, most, false),
            ("page=1000000", 1_000_000, 100, true),
            ("page=9223372036854775807&per_page=1", i64::MAX, 1, true),
            ("page=9223372036854775807&per_page=9223372036854775807", i64::MAX, most, true),
        ] {
            let response = fixture.get(&format!("{list}{query}"));
            assert_eq!(response.status, 200, "{list}{query}: {}", response.body);
            check_page(&response.json(), &format!("{list}{query}"), page, per_page, is_empty);
            let link = response.header("link").unwrap();
            let first = link.split(", ").find(|part| part.ends_with("rel=\"first\"")).unwrap();
            assert!(first.contains("page=1&") && first.contains(&format!("per_page={per_page}>")), "{link}");
        }
    }
}

fn check_page(json: &Value, what: &str, page: i64, per_page: i64, is_empty: bool) {
    let items = ["results", "users", "transactions"].iter().find_map(|key| json[*key].as_array()).unwrap();
    assert_eq!(items.is_empty(), is_empty, "{what}: {json}");
    assert!(i64::try_from(items.len()).unwrap() <= per_page, "{what}");
    if json.get("results").is_some() {
        assert_eq!(
            (json["page"].as_i64(), json["per_page"].as_i64()),
            (Some(page), Some(per_page)),
            "{what}: {json}"
        );
        assert_eq!(json["result_count"].as_i64(), i64::try_from(items.len()).ok(), "{what}: {json}");
        assert!(json["total_count"].as_i64().unwrap() > 0, "{what}: {json}");
    }
}

/// Checks that a limit that is too large is reduced.
fn check_large_limits(fixture: &InputFixture<'_>) {
    for limit in ["101", "9223372036854775807"].iter().chain(LARGE_NUMBERS) {
        let response = fixture.get(&format!("/v1/events?limit={limit}"));
        assert_eq!(response.status, 200, "{limit}: {}", response.body);
    }
    fixture.get("/v1/events?limit=9223372036854775808x").expect_error(400);
}

/// Checks that a known parameter must be valid UTF-8.
fn check_encodings(fixture: &InputFixture<'_>) {
    let users = format!("/v1/companies/{}/users", fixture.sample.company);
    for value in ["%ff", "a%C3", "%C3%28", "%ED%A0%80"] {
        let message = fixture.get(&format!("{users}?employee_id={value}")).expect_error(400);
        assert_eq!(message, "employee_id must be valid UTF-8", "{value}");
        let response = fixture.get(&format!("{users}?unknown={value}&{value}=1"));
        assert_eq!(response.status, 200, "{value}: {}", response.body);
    }
    for value in ["%C3%A4", "%EF%BF%BD", "a+b"] {
        assert_eq!(fixture.get(&format!("{users}?employee_id={value}")).status, 200, "{value}");
    }
}

/// Checks that a wallet type must be valid and given once.
fn check_wallet_types(fixture: &InputFixture<'_>) {
    let path = format!("/v1/users/{}/transactions", fixture.sample.users[0]);
    for query in [
        "",
        "?type",
        "?type=",
        "?type=reserve",
        "?type=User_Wallet",
        "?type=USER_WALLET",
        "?type=user_wallet%20",
        "?type=%20user_wallet",
        "?type=user_wallet%00",
        "?type=%00",
        "?type=%ff",
        "?type=user_wallet,peer_wallet",
        "?type=1",
        "?type=funding",
        "?type=company",
        "?type=user_wallet&type=user_wallet",
        "?type=user_wallet&type=peer_wallet",
        "?type[]=user_wallet",
        "?Type=user_wallet",
        "?type=user%5Fwallet&ty%70e=user_wallet",
        "?type='%20OR%201=1--",
        "?page=1",
    ] {
        let message = fixture.get(&format!("{path}{query}")).expect_error(400);
        assert!(reports_field(&message, "type"), "{query}: {message}");
    }
    for kind in ["user_wallet", "peer_wallet", "manager_wallet", "user%5Fwallet"] {
        let response = fixture.get(&format!("{path}?type={kind}"));
        let json = response.json();
        assert_eq!((response.status, &json["type"]), (200, &Value::from(kind.replace("%5F", "_"))));
        assert_eq!(json["transactions"].as_array().unwrap().is_empty(), kind == "manager_wallet", "{json}");
    }
}

/// Checks that a corporation in a query must be one UUID.
fn check_corporation_ids(fixture: &InputFixture<'_>) {
    let id = &fixture.corporation;
    let list = "/v1/companies?corporation_id=";
    for bad in [
        "x",
        "0",
        "%00",
        "null",
        "*",
        "%25",
        "%ff",
        &id.replace('-', ""),
        &format!("%7B{id}%7D"),
        &format!("{id},{id}"),
        &format!("{id}%00"),
        &format!("{id}%20"),
        &format!("{id}&corporation_id={id}"),
        "%27%20OR%201=1--",
    ] {
        let message = fixture.get(&format!("{list}{bad}")).expect_error(400);
        assert!(reports_field(&message, "corporation_id"), "{bad}: {message}");
    }
    let all = fixture.get(&format!("{list}x&page=0&per_page=0")).expect_error(400);
    for name in ["corporation_id", "page", "per_page"] {
        assert!(reports_field(&all, name), "{all}");
    }
    let response = fixture.get(&format!("{list}{id}")).json();
    assert_eq!(
        (&response["total_count"], &response["results"][0]["id"]),
        (&Value::from(1), &Value::from(fixture.sample.company.as_str()))
    );
}

#[test]
fn queries_are_ignored_if_the_endpoint_has_no_parameters() {
    for_each_input_fixture(|fixture| {
        let query = "?page=0&per_page=x&type=x&corporation_id=x&unknown=%ff";
        for endpoint in fixture.endpoints() {
            let path = format!("{}{query}", endpoint.path);
            let response =
                fixture.send_request(endpoint.method, &path, Some(&endpoint.valid_body().to_string()));
            assert_eq!(response.status, endpoint.success_status(), "{path}: {}", response.body);
        }
        for path in [
            format!("/v1/companies/{}", fixture.sample.company),
            format!("/v1/companies/{}/saml", fixture.sample.company),
            format!("/v1/corporations/{}", fixture.corporation),
            format!("/v1/occasions/{}", fixture.sample.occasion),
            format!("/v1/users/{}", fixture.sample.users[0]),
            format!("/v1/users/{}/balances", fixture.sample.users[0]),
        ] {
            assert_eq!(fixture.get(&format!("{path}{query}")).status, 200, "{path}");
        }
        assert_eq!(
            fixture.send_request("DELETE", &format!("/v1/users/{}{query}", fixture.spare_user), None).status,
            204
        );
    });
}

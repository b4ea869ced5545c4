//! Lists return and count only the provider's own rows.

use serde_json::{Value, json};

use crate::support::created_id;
use crate::support::fixture_templates::{for_each_fixture, for_each_fixture_pair};
use crate::support::service::{ProviderCredentials, TestService};

fn fetch_list(service: &TestService, provider: &ProviderCredentials, path: &str) -> (i64, Vec<String>) {
    let response = service.get(provider, path);
    assert_eq!(response.status, 200, "{path}: {}", response.body);
    let json = response.json();
    let ids: Vec<String> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(json["result_count"], ids.len(), "{path}");
    (json["total_count"].as_i64().unwrap(), ids)
}

#[test]
fn a_provider_without_objects_gets_empty_lists() {
    for_each_fixture(|service, fixture| {
        let empty = service.create_provider("Empty", false);
        for path in ["/v1/companies", "/v1/corporations"] {
            assert_eq!(fetch_list(service, &empty, path), (0, vec![]));
            let response = service.get(&empty, path);
            fixture.assert_not_revealed(&response, path);
        }
    });
}

#[test]
fn lists_return_and_count_only_own_rows() {
    for_each_fixture_pair(|service, one, two| {
        for (mine, other) in [(one, two), (two, one)] {
            let company = &mine.sample.company;
            let check = |path: &str, expected: &[&String]| {
                let (total, ids) = fetch_list(service, mine.provider(), path);
                assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{path}");
                assert_eq!(usize::try_from(total), Ok(expected.len()), "{path}");
                other.assert_not_revealed(&service.get(mine.provider(), path), path);
            };
            check("/v1/companies", &[company]);
            check(&format!("/v1/companies?corporation_id={}", mine.corporation), &[company]);
            check("/v1/corporations", &[&mine.corporation]);
            check(&format!("/v1/corporations/{}/companies", mine.corporation), &[company]);
            let occasions = [&mine.sample.occasion, &mine.spare_occasion];
            check(&format!("/v1/companies/{company}/occasions"), &occasions);
            let path = format!("/v1/companies/{company}/users/balances");
            let balances = service.get(mine.provider(), &path);
            assert_eq!(balances.json()["users"].as_array().map(Vec::len), Some(5));
            other.assert_not_revealed(&balances, &path);
        }
    });
}

#[test]
fn corporation_lists_exclude_foreign_companies() {
    for_each_fixture_pair(|service, mine, theirs| {
        let forge = "UPDATE companies SET corporation_id = (SELECT id FROM corporations WHERE name = 'okapi group') \
                     WHERE domain = 'zebra.example.com'";
        service.database.execute_sql(forge, forge);
        for path in [
            "/v1/companies".to_owned(),
            format!("/v1/companies?corporation_id={}", mine.corporation),
            format!("/v1/corporations/{}/companies", mine.corporation),
        ] {
            assert_eq!(
                fetch_list(service, mine.provider(), &path),
                (1, vec![mine.sample.company.clone()]),
                "{path}"
            );
            theirs.assert_not_revealed(&service.get(mine.provider(), &path), &path);
        }
    });
}

#[test]
fn a_companys_lists_exclude_other_companies_of_the_provider() {
    for_each_fixture(|service, fixture| {
        let body = crate::support::company_body("second.example.com");
        let second = created_id(service.post(fixture.provider(), "/v1/companies", &body));
        let (total, _) =
            fetch_list(service, fixture.provider(), &format!("/v1/companies/{second}/occasions"));
        assert_eq!(total, 0);
        let balances =
            service.get(fixture.provider(), &format!("/v1/companies/{second}/users/balances")).json();
        assert_eq!(balances["users"].as_array().map(Vec::len), Some(1));
        let in_corporation = format!("/v1/corporations/{}/companies", fixture.corporation);
        assert_eq!(
            fetch_list(service, fixture.provider(), &in_corporation),
            (1, vec![fixture.sample.company.clone()])
        );
        let all = fetch_list(service, fixture.provider(), "/v1/companies");
        assert_eq!(all, (2, vec![fixture.sample.company.clone(), second.clone()]));
        let saml = service.get(fixture.provider(), &format!("/v1/companies/{second}/saml")).json();
        assert_eq!(
            saml,
            json!({"idp_id": Value::Null, "idp_url": Value::Null, "active": false,
                "sp_id": "https://localhost:8443/saml/second.example.com"})
        );
    });
}

//! The same requests to the service on SQLite and on PostgreSQL get the same responses: status, headers and body.

mod chance;
mod generator;
mod operations;
mod request;
pub mod twin;
mod values;

use std::collections::BTreeMap;

use chance::Chance;
use generator::Generator;
use request::{Request, get, post};
use twin::{Twin, in_both, start, verify};

use crate::walk;

#[test]
fn both_databases_give_the_same_responses_to_the_walk() {
    let Some(services) = start() else { return };
    let [sqlite, postgres] = in_both(&services, |service, _| walk::go(service));
    assert!(sqlite.len() > 300, "{}", sqlite.len());
    for (left, right) in sqlite.iter().zip(&postgres) {
        assert_eq!(left, right, "SQLite left, PostgreSQL right");
    }
    assert_eq!(sqlite.len(), postgres.len());
    verify(&services);
}

/// `DIFFERENTIAL_SEED` selects other requests, `DIFFERENTIAL_REQUESTS` their number.
#[test]
fn both_databases_give_the_same_responses_to_generated_requests() {
    let Some(services) = start() else { return };
    let given =
        |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let (seed, requests) = (given("DIFFERENTIAL_SEED", 1), given("DIFFERENTIAL_REQUESTS", 1_500));
    println!("DIFFERENTIAL_SEED={seed} DIFFERENTIAL_REQUESTS={requests}");
    let mut twin = Twin::of(services);
    let mut generator = Generator::new(Chance::new(seed));
    first(&mut twin, &mut generator);
    let mut statuses: BTreeMap<u16, u32> = BTreeMap::new();
    for turn in 0..requests {
        if turn % 250 == 0 {
            fund(&mut twin, &generator);
        }
        let request = generator.next();
        let answer = twin.ask(&request);
        generator.learn(&request, &answer);
        *statuses.entry(answer.status).or_default() += 1;
    }
    println!("{statuses:?}");
    last(&mut twin, &generator);
    let met: Vec<u16> = statuses.into_keys().collect();
    assert_eq!(met, [200, 201, 204, 400, 403, 404, 405], "exactly these statuses");
    twin.verify();
}

/// The initial objects: for each of two providers, a funded company in a corporation.
fn first(twin: &mut Twin, generator: &mut Generator) {
    let mut make = |twin: &mut Twin, request: Request| {
        let answer = twin.ask(&request);
        assert_eq!(answer.status, 201, "{request:?}: {}", answer.body);
        generator.learn(&request, &answer);
        let json: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        json["id"].as_str().unwrap().to_owned()
    };
    let global = ["occasion", "create-global", "--name", "G", "--title", "T", "--default-message", "M"];
    twin.command(&global);
    for by in [0, 1] {
        let corporation = make(twin, post(by, "/v1/corporations", &[("name", "Group")]));
        let company = [
            ("domain", format!("first{by}.example.com")),
            ("company_name", "First".to_owned()),
            ("owner_email", "owner@example.com".to_owned()),
            ("owner_name", "First Owner".to_owned()),
            ("logo_url", "https://example.com/logo.png".to_owned()),
            ("corporation_id", corporation),
        ];
        let company = company.each_ref().map(|(name, value)| (*name, value.as_str()));
        let company = make(twin, post(by, "/v1/companies", &company));
        let text =
            [("company_id", company.as_str()), ("name", "N"), ("title", "T"), ("default_message", "M")];
        make(twin, post(by, "/v1/occasions", &text));
        for name in ["ann", "bob", "cid"] {
            let email = format!("{name}@example.com");
            let names = [("company_id", company.as_str()), ("first_name", name), ("last_name", "Doe")];
            make(twin, post(by, "/v1/users", &[&names[..], &[("email", &email)]].concat()));
        }
    }
    let list = get(0, &format!("/v1/companies/{}/occasions", generator.companies()[0]));
    let answer = twin.ask(&list);
    generator.learn(&list, &answer);
}

/// Gives points to the first two companies and to all of their users.
fn fund(twin: &mut Twin, generator: &Generator) {
    for company in &generator.companies()[..2] {
        twin.command(&["reserve", "deposit", company, "--points", "100000"]);
        twin.command(&["distribution", "run", company, "--wallet", "peer_wallet", "--points", "100"]);
    }
}

/// Compares all objects at the end.
fn last(twin: &mut Twin, generator: &Generator) {
    for by in [0, 1] {
        twin.ask(&get(by, "/v1/companies?per_page=1000"));
        twin.ask(&get(by, "/v1/corporations?per_page=1000"));
        for company in generator.companies() {
            for path in ["", "/users/balances", "/occasions", "/saml"] {
                twin.ask(&get(by, &format!("/v1/companies/{company}{path}")));
            }
        }
    }
    for (by, user) in generator.users() {
        for path in ["", "/transactions?type=user_wallet"] {
            twin.ask(&get(by, &format!("/v1/users/{user}{path}")));
        }
    }
}

//! The service on SQLite and on PostgreSQL gives the same responses to the same requests: status, headers and body.

mod generator;
mod operations;
mod request;
mod rng;
pub mod service_pair;
mod values;

use std::collections::BTreeMap;

use generator::Generator;
use request::{RequestTemplate, get_request, post_request};
use rng::TestRng;
use service_pair::{ServicePair, start_both};

/// `DIFFERENTIAL_SEED` sets the seed of the generated requests, `DIFFERENTIAL_REQUESTS` their number.
#[test]
fn both_databases_give_the_same_responses_to_generated_requests() {
    let Some(services) = start_both() else { return };
    let given =
        |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let (seed, requests) = (given("DIFFERENTIAL_SEED", 1), given("DIFFERENTIAL_REQUESTS", 1_500));
    println!("DIFFERENTIAL_SEED={seed} DIFFERENTIAL_REQUESTS={requests}");
    let mut pair = ServicePair::for_services(services);
    let mut generator = Generator::new(TestRng::new(seed));
    create_initial_objects(&mut pair, &mut generator);
    let mut statuses: BTreeMap<u16, u32> = BTreeMap::new();
    for turn in 0..requests {
        if turn % 250 == 0 {
            fund_companies(&mut pair, &generator);
        }
        let request = generator.next();
        let response = pair.send_to_both(&request);
        generator.record_objects(&request, &response);
        *statuses.entry(response.status).or_default() += 1;
    }
    println!("{statuses:?}");
    compare_final_objects(&mut pair, &generator);
    let met: Vec<u16> = statuses.into_keys().collect();
    assert_eq!(met, [200, 201, 204, 400, 403, 404, 405], "exactly these statuses");
    pair.verify_ledgers();
}

/// The initial objects: for each of two providers, a funded company in a corporation.
fn create_initial_objects(pair: &mut ServicePair, generator: &mut Generator) {
    let mut make = |pair: &mut ServicePair, request: RequestTemplate| {
        let response = pair.send_to_both(&request);
        assert_eq!(response.status, 201, "{request:?}: {}", response.body);
        generator.record_objects(&request, &response);
        let json: serde_json::Value = serde_json::from_str(&response.body).unwrap();
        json["id"].as_str().unwrap().to_owned()
    };
    let global = ["occasion", "create-global", "--name", "G", "--title", "T", "--default-message", "M"];
    pair.run_on_both(&global);
    for by in [0, 1] {
        let corporation = make(pair, post_request(by, "/v1/corporations", &[("name", "Group")]));
        let company = [
            ("domain", format!("first{by}.example.com")),
            ("company_name", "First".to_owned()),
            ("owner_email", "owner@example.com".to_owned()),
            ("owner_name", "First Owner".to_owned()),
            ("logo_url", "https://example.com/logo.png".to_owned()),
            ("corporation_id", corporation),
        ];
        let company = company.each_ref().map(|(name, value)| (*name, value.as_str()));
        let company = make(pair, post_request(by, "/v1/companies", &company));
        let text =
            [("company_id", company.as_str()), ("name", "N"), ("title", "T"), ("default_message", "M")];
        make(pair, post_request(by, "/v1/occasions", &text));
        for name in ["ann", "bob", "cid"] {
            let email = format!("{name}@example.com");
            let names = [("company_id", company.as_str()), ("first_name", name), ("last_name", "Doe")];
            make(pair, post_request(by, "/v1/users", &[&names[..], &[("email", &email)]].concat()));
        }
    }
    let list = get_request(0, &format!("/v1/companies/{}/occasions", generator.company_ids()[0]));
    let response = pair.send_to_both(&list);
    generator.record_objects(&list, &response);
}

/// Gives points to the first two companies and to all of their users.
fn fund_companies(pair: &mut ServicePair, generator: &Generator) {
    for company in &generator.company_ids()[..2] {
        pair.run_on_both(&["reserve", "deposit", company, "--points", "100000"]);
        pair.run_on_both(&["distribution", "run", company, "--wallet", "peer_wallet", "--points", "100"]);
    }
}

/// Compares all objects after the last request.
fn compare_final_objects(pair: &mut ServicePair, generator: &Generator) {
    for by in [0, 1] {
        pair.send_to_both(&get_request(by, "/v1/companies?per_page=1000"));
        pair.send_to_both(&get_request(by, "/v1/corporations?per_page=1000"));
        for company in generator.company_ids() {
            for path in ["", "/users/balances", "/occasions", "/saml"] {
                pair.send_to_both(&get_request(by, &format!("/v1/companies/{company}{path}")));
            }
        }
    }
    for (by, user) in generator.user_ids() {
        for path in ["", "/transactions?type=user_wallet"] {
            pair.send_to_both(&get_request(by, &format!("/v1/users/{user}{path}")));
        }
    }
}

//! Transfers a company to another provider: it leaves its corporation, and the old provider loses access.

use serde_json::json;

use super::Walk;
use super::lists::{listed, whole};
use super::making::{ANN, BIRTHDAY, CORPORATION, EXAMPLE, PLAIN, fetched};
use super::points::{ANN_TO_BOB, BOB_TO_ANN, COMPANY_TO_ANN};

pub fn run(walk: &mut Walk<'_>) {
    walk.send("PUT", "/v1/users/@4", Some(r#"{"corporation_admin":true}"#));
    assert_eq!(walk.read("/v1/users/@4")["corporation_admin"], true);
    let heir = walk.service.provider("Heir", true);
    let saml = walk.read(SAML);
    let id = walk.id(2);
    let transfer = |to: &str| walk.service.guerdon(&["company", "transfer", &id, "--to", to]).status;
    assert_eq!(transfer(&walk.id(1)), 1, "no such provider");
    assert_eq!(transfer(&heir.id), 0);
    old_provider(walk);
    let old = std::mem::replace(&mut walk.provider, heir);
    whole(walk, "/v1/companies", &[&listed(EXAMPLE)]);
    whole(walk, "/v1/corporations", &[]);
    whole(walk, "/v1/companies/@2/occasions", &[BIRTHDAY]);
    walk.get("/v1/companies/@2", &fetched(EXAMPLE, 4, 50));
    walk.get("/v1/companies/example.com", &fetched(EXAMPLE, 4, 50));
    walk.get("/v1/users/@4", ANN); // not in a corporation, so not a corporation admin
    whole(walk, "/v1/users/@4/recognitions_received", &[BOB_TO_ANN, COMPANY_TO_ANN]);
    whole(walk, "/v1/users/@4/recognitions_sent", &[ANN_TO_BOB]);
    assert_eq!(walk.read(SAML), saml);
    walk.put("/v1/companies/@2", "{}", EXAMPLE);
    walk.refused("GET", "/v1/corporations/@1", None, 403, "the corporation belongs to another provider");
    walk.provider = old;
}

const SAML: &str = "/v1/companies/@2/saml";

fn old_provider(walk: &mut Walk<'_>) {
    whole(walk, "/v1/companies", &[&listed(PLAIN)]);
    whole(walk, "/v1/companies?corporation_id=@1", &[]);
    whole(walk, "/v1/corporations/@1/companies", &[]);
    whole(walk, "/v1/corporations", &[CORPORATION]);
    let company = ["@2", "example.com", "@2/users/balances", "@2/occasions", "@2/saml"];
    for path in company {
        walk.refused(
            "GET",
            &format!("/v1/companies/{path}"),
            None,
            403,
            "the company belongs to another provider",
        );
    }
    walk.refused("PUT", "/v1/companies/@2", Some("{}"), 403, "the company belongs to another provider");
    walk.refused("PUT", SAML, Some("{}"), 403, "the company belongs to another provider");
    let lists = ["", "/balances", "/transactions?type=user_wallet", "/recognitions_sent"];
    for path in lists {
        walk.refused(
            "GET",
            &format!("/v1/users/@4{path}"),
            None,
            403,
            "the user belongs to another provider",
        );
    }
    walk.refused("DELETE", "/v1/users/@4", None, 403, "the user belongs to another provider");
    let user = r#"{"company_id":"@2","email":"x@example.com","first_name":"X","last_name":"Y"}"#;
    let told = walk.send("POST", "/v1/users", Some(user)).error(403);
    assert!(told.contains("company_id"), "{told}");
    let occasion = json!({"company_id": "@2", "name": "N", "title": "T", "default_message": "M"});
    let told = walk.send("POST", "/v1/occasions", Some(&occasion.to_string())).error(403);
    assert!(told.contains("company_id"), "{told}");
}

//! Transfers a company to another provider: it leaves its corporation, and the old provider loses access.

use serde_json::json;

use super::Walk;
use super::lists::read_single_page;

pub fn check_transfer(walk: &mut Walk<'_>) {
    walk.send_request("PUT", "/v1/users/@4", Some(r#"{"corporation_admin":true}"#));
    assert_eq!(walk.read_json("/v1/users/@4")["corporation_admin"], true);
    let heir = walk.service.create_provider("Heir", true);
    let saml = walk.read_json(SAML);
    let id = walk.id_at(2);
    let transfer = |to: &str| walk.service.run_command(&["company", "transfer", &id, "--to", to]).status;
    assert_eq!(transfer(&walk.id_at(1)), 1, "no such provider");
    assert_eq!(transfer(&heir.id), 0);
    check_old_provider(walk);
    let old = std::mem::replace(&mut walk.provider, heir);
    read_single_page(walk, "/v1/companies");
    read_single_page(walk, "/v1/corporations");
    read_single_page(walk, "/v1/companies/@2/occasions");
    walk.get("/v1/companies/@2");
    walk.get("/v1/companies/example.com");
    walk.get("/v1/users/@4"); // not in a corporation, so not a corporation admin
    read_single_page(walk, "/v1/users/@4/recognitions_received");
    read_single_page(walk, "/v1/users/@4/recognitions_sent");
    assert_eq!(walk.read_json(SAML), saml);
    walk.put("/v1/companies/@2", "{}");
    walk.assert_refused(
        "GET",
        "/v1/corporations/@1",
        None,
        403,
        "the corporation belongs to another provider: id @1",
    );
    walk.provider = old;
}

const SAML: &str = "/v1/companies/@2/saml";

fn check_old_provider(walk: &mut Walk<'_>) {
    read_single_page(walk, "/v1/companies");
    read_single_page(walk, "/v1/companies?corporation_id=@1");
    read_single_page(walk, "/v1/corporations/@1/companies");
    read_single_page(walk, "/v1/corporations");
    let foreign_company = "the company belongs to another provider: id @2";
    for path in ["@2", "@2/users/balances", "@2/occasions", "@2/saml"] {
        walk.assert_refused("GET", &format!("/v1/companies/{path}"), None, 403, foreign_company);
    }
    let by_domain = "the company belongs to another provider";
    walk.assert_refused("GET", "/v1/companies/example.com", None, 403, by_domain);
    walk.assert_refused("PUT", "/v1/companies/@2", Some("{}"), 403, foreign_company);
    walk.assert_refused("PUT", SAML, Some("{}"), 403, foreign_company);
    let foreign_user = "the user belongs to another provider: id @4";
    let lists = ["", "/balances", "/transactions?type=user_wallet", "/recognitions_sent"];
    for path in lists {
        walk.assert_refused("GET", &format!("/v1/users/@4{path}"), None, 403, foreign_user);
    }
    walk.assert_refused("DELETE", "/v1/users/@4", None, 403, foreign_user);
    let user = r#"{"company_id":"@2","email":"x@example.com","first_name":"X","last_name":"Y"}"#;
    let message = walk.send_request("POST", "/v1/users", Some(user)).expect_error(403);
    assert!(message.contains("company_id"), "{message}");
    let occasion = json!({"company_id": "@2", "name": "N", "title": "T", "default_message": "M"});
    let message = walk.send_request("POST", "/v1/occasions", Some(&occasion.to_string())).expect_error(403);
    assert!(message.contains("company_id"), "{message}");
}

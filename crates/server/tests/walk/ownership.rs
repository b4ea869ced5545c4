//! A company's owner is one of its users. Ownership is transferred, and an owner is created and renamed, and cannot be
//! deleted.

use serde_json::json;

use super::creation::{ANN, EXAMPLE, fetched_company};
use super::{Walk, replace_part};

const PATH: &str = "/v1/companies/@2";

pub fn check_ownership(walk: &mut Walk<'_>) {
    transfer_to_user(walk);
    refuse_owner_removal(walk);
    transfer_to_new_user(walk);
    rename_owner(walk);
    transfer_back(walk);
}

/// The company with this owner.
fn company_owned_by(id: &str, email: &str, name: &str) -> String {
    let company = replace_part(&replace_part(EXAMPLE, "@3", id), "Olive@Example.com", email);
    replace_part(&company, "Olive Owner", name)
}

fn transfer_to_user(walk: &mut Walk<'_>) {
    let owned = company_owned_by("@4", "ann@example.com", "Ann Lee");
    walk.put_changed(PATH, r#"{"owner_email":"ANN@example.com"}"#, &owned);
    walk.get(PATH, &fetched_company(&owned, 3, 50));
    walk.get("/v1/users/@4", &replace_part(ANN, r#""company_admin":false"#, r#""company_admin":true"#));
    assert_eq!(walk.read_json("/v1/users/@3")["company_admin"], true, "the old owner keeps the flag");
    walk.put_unchanged(PATH, r#"{"owner_email":"ann@example.com"}"#);
    assert_eq!(walk.write_back(PATH), ["created_at", "id", "owner_id", "updated_at", "user_count"]);
    walk.write_back("/v1/users/@4");
}

fn refuse_owner_removal(walk: &mut Walk<'_>) {
    let before = (walk.read_json(PATH), walk.read_json("/v1/users/@4"));
    walk.send_request("DELETE", "/v1/users/@4", None).expect_error(400);
    let message = walk
        .send_request("PUT", "/v1/users/@4", Some(r#"{"company_admin":false,"title":"x"}"#))
        .expect_error(400);
    assert!(message.starts_with("company_admin"), "{message}");
    assert_eq!((walk.read_json(PATH), walk.read_json("/v1/users/@4")), before);
}

fn transfer_to_new_user(walk: &mut Walk<'_>) {
    let namesake = company_owned_by("@14", "namesake@example.com", "Ann Lee");
    walk.put_changed(PATH, r#"{"owner_email":"namesake@example.com"}"#, &namesake);
    walk.get(PATH, &fetched_company(&namesake, 4, 50));
    let owner = replace_part(&replace_part(ANN, "@4", "@14"), "ann@example.com", "namesake@example.com");
    let owner = replace_part(&owner, r#""company_admin":false"#, r#""company_admin":true"#);
    walk.get("/v1/users/@14", &owner);
    assert_eq!(walk.read_json("/v1/users/@4")["company_admin"], true);
    let wallets = r#"{"id":"@14","wallets":[{"type":"user_wallet","points":0,"cumulative_points_spent":0},
        {"type":"peer_wallet","points":0,"cumulative_points_spent":0}]}"#;
    walk.get("/v1/users/@14/balances", wallets);

    let eve = company_owned_by("@15", "eve@example.com", "Eve van Dyke");
    walk.put_changed(PATH, r#"{"owner_email":"eve@example.com","owner_name":"Eve van Dyke"}"#, &eve);
    walk.get(PATH, &fetched_company(&eve, 5, 50));
    let user = walk.read_json("/v1/users/@15");
    assert_eq!((&user["first_name"], &user["last_name"]), (&json!("Eve van"), &json!("Dyke")));
}

fn rename_owner(walk: &mut Walk<'_>) {
    let evelyn = company_owned_by("@15", "eve@example.com", "Evelyn");
    walk.put_changed(PATH, r#"{"owner_name":"Evelyn"}"#, &evelyn);
    let user = walk.read_json("/v1/users/@15");
    assert_eq!((&user["first_name"], &user["last_name"]), (&json!("Evelyn"), &json!("")));
    walk.write_back("/v1/users/@15");
    walk.write_back(PATH);
    let body = r#"{"email":"evelyn@example.com","last_name":"van Dyke"}"#;
    assert_eq!(walk.send_request("PUT", "/v1/users/@15", Some(body)).status, 200);
    walk.get(
        PATH,
        &fetched_company(&company_owned_by("@15", "evelyn@example.com", "Evelyn van Dyke"), 5, 50),
    );
    let user = walk.read_json("/v1/users/@15");
    walk.write_back(PATH);
    assert_eq!(walk.read_json("/v1/users/@15"), user, "an equal name is not split again");
}

/// Transfers ownership, after which the previous owner can be deleted.
fn transfer_back(walk: &mut Walk<'_>) {
    walk.put_changed(PATH, r#"{"owner_email":"olive@example.com"}"#, EXAMPLE);
    assert_eq!(walk.send_request("PUT", "/v1/users/@4", Some(r#"{"company_admin":false}"#)).status, 200);
    walk.get("/v1/users/@4", ANN);
    walk.delete("/v1/users/@14");
    walk.delete("/v1/users/@15");
    walk.get(PATH, &fetched_company(EXAMPLE, 3, 50));
}

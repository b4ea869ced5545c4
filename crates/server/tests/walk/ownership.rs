//! A company's owner is one of its users: ownership is transferred, an owner is created and renamed, and cannot be
//! deleted.

use serde_json::json;

use super::making::{ANN, EXAMPLE, fetched};
use super::{Walk, with};

const PATH: &str = "/v1/companies/@2";

pub fn run(walk: &mut Walk<'_>) {
    to_a_user(walk);
    held_fast(walk);
    to_a_new_one(walk);
    renamed(walk);
    back(walk);
}

/// The company with this owner.
fn owned(id: &str, email: &str, name: &str) -> String {
    let company = with(&with(EXAMPLE, "@3", id), "Olive@Example.com", email);
    with(&company, "Olive Owner", name)
}

fn to_a_user(walk: &mut Walk<'_>) {
    let owned = owned("@4", "ann@example.com", "Ann Lee");
    walk.changes(PATH, r#"{"owner_email":"ANN@example.com"}"#, &owned);
    walk.get(PATH, &fetched(&owned, 3, 50));
    walk.get("/v1/users/@4", &with(ANN, r#""company_admin":false"#, r#""company_admin":true"#));
    assert_eq!(walk.read("/v1/users/@3")["company_admin"], true, "the old owner keeps the flag");
    walk.changes_nothing(PATH, r#"{"owner_email":"ann@example.com"}"#);
    assert_eq!(walk.round_trip(PATH), ["created_at", "id", "owner_id", "updated_at", "user_count"]);
    walk.round_trip("/v1/users/@4");
}

fn held_fast(walk: &mut Walk<'_>) {
    let before = (walk.read(PATH), walk.read("/v1/users/@4"));
    walk.send("DELETE", "/v1/users/@4", None).error(400);
    let told = walk.send("PUT", "/v1/users/@4", Some(r#"{"company_admin":false,"title":"x"}"#)).error(400);
    assert!(told.starts_with("company_admin"), "{told}");
    assert_eq!((walk.read(PATH), walk.read("/v1/users/@4")), before);
}

fn to_a_new_one(walk: &mut Walk<'_>) {
    let namesake = owned("@14", "namesake@example.com", "Ann Lee");
    walk.changes(PATH, r#"{"owner_email":"namesake@example.com"}"#, &namesake);
    walk.get(PATH, &fetched(&namesake, 4, 50));
    let made = with(&with(ANN, "@4", "@14"), "ann@example.com", "namesake@example.com");
    let made = with(&made, r#""company_admin":false"#, r#""company_admin":true"#);
    walk.get("/v1/users/@14", &made);
    assert_eq!(walk.read("/v1/users/@4")["company_admin"], true);
    let wallets = r#"{"id":"@14","wallets":[{"type":"user_wallet","points":0,"cumulative_points_spent":0},
        {"type":"peer_wallet","points":0,"cumulative_points_spent":0}]}"#;
    walk.get("/v1/users/@14/balances", wallets);

    let eve = owned("@15", "eve@example.com", "Eve van Dyke");
    walk.changes(PATH, r#"{"owner_email":"eve@example.com","owner_name":"Eve van Dyke"}"#, &eve);
    walk.get(PATH, &fetched(&eve, 5, 50));
    let user = walk.read("/v1/users/@15");
    assert_eq!((&user["first_name"], &user["last_name"]), (&json!("Eve van"), &json!("Dyke")));
}

fn renamed(walk: &mut Walk<'_>) {
    let evelyn = owned("@15", "eve@example.com", "Evelyn");
    walk.changes(PATH, r#"{"owner_name":"Evelyn"}"#, &evelyn);
    let user = walk.read("/v1/users/@15");
    assert_eq!((&user["first_name"], &user["last_name"]), (&json!("Evelyn"), &json!("")));
    walk.round_trip("/v1/users/@15");
    walk.round_trip(PATH);
    let body = r#"{"email":"evelyn@example.com","last_name":"van Dyke"}"#;
    assert_eq!(walk.send("PUT", "/v1/users/@15", Some(body)).status, 200);
    walk.get(PATH, &fetched(&owned("@15", "evelyn@example.com", "Evelyn van Dyke"), 5, 50));
    let user = walk.read("/v1/users/@15");
    walk.round_trip(PATH);
    assert_eq!(walk.read("/v1/users/@15"), user, "an equal name is not split again");
}

/// Ownership is transferred, after which the previous owner can be deleted.
fn back(walk: &mut Walk<'_>) {
    walk.changes(PATH, r#"{"owner_email":"olive@example.com"}"#, EXAMPLE);
    assert_eq!(walk.send("PUT", "/v1/users/@4", Some(r#"{"company_admin":false}"#)).status, 200);
    walk.get("/v1/users/@4", ANN);
    walk.delete("/v1/users/@14");
    walk.delete("/v1/users/@15");
    walk.get(PATH, &fetched(EXAMPLE, 3, 50));
}

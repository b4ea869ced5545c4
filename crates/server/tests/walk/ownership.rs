//! A company's owner is one of its users. Ownership is transferred, and an owner is created and renamed, and cannot be
//! deleted.

use serde_json::json;

use super::Walk;

const PATH: &str = "/v1/companies/@2";

pub fn check_ownership(walk: &mut Walk<'_>) {
    transfer_to_user(walk);
    refuse_owner_removal(walk);
    transfer_to_new_user(walk);
    rename_owner(walk);
    transfer_back(walk);
}

fn transfer_to_user(walk: &mut Walk<'_>) {
    walk.put_changed(PATH, r#"{"owner_email":"ANN@example.com"}"#);
    walk.get(PATH);
    walk.get("/v1/users/@4");
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
    walk.put_changed(PATH, r#"{"owner_email":"namesake@example.com"}"#);
    walk.get(PATH);
    walk.get("/v1/users/@14");
    assert_eq!(walk.read_json("/v1/users/@4")["company_admin"], true);
    walk.get("/v1/users/@14/balances");

    walk.put_changed(PATH, r#"{"owner_email":"eve@example.com","owner_name":"Eve van Dyke"}"#);
    walk.get(PATH);
    let user = walk.read_json("/v1/users/@15");
    assert_eq!((&user["first_name"], &user["last_name"]), (&json!("Eve van"), &json!("Dyke")));
}

fn rename_owner(walk: &mut Walk<'_>) {
    walk.put_changed(PATH, r#"{"owner_name":"Evelyn"}"#);
    let user = walk.read_json("/v1/users/@15");
    assert_eq!((&user["first_name"], &user["last_name"]), (&json!("Evelyn"), &json!("")));
    walk.write_back("/v1/users/@15");
    walk.write_back(PATH);
    let body = r#"{"email":"evelyn@example.com","last_name":"van Dyke"}"#;
    assert_eq!(walk.send_request("PUT", "/v1/users/@15", Some(body)).status, 200);
    walk.get(PATH);
    let user = walk.read_json("/v1/users/@15");
    walk.write_back(PATH);
    assert_eq!(walk.read_json("/v1/users/@15"), user, "an equal name is not split again");
}

/// Transfers ownership, after which the previous owner can be deleted.
fn transfer_back(walk: &mut Walk<'_>) {
    walk.put_changed(PATH, r#"{"owner_email":"olive@example.com"}"#);
    assert_eq!(walk.send_request("PUT", "/v1/users/@4", Some(r#"{"company_admin":false}"#)).status, 200);
    walk.get("/v1/users/@4");
    walk.delete("/v1/users/@14");
    walk.delete("/v1/users/@15");
    walk.get(PATH);
}

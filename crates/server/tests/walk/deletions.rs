//! Deletes a user and an occasion. Their recognitions and transfers remain.

use serde_json::json;

use super::Walk;
use super::lists::read_single_page;

pub fn check_deletions(walk: &mut Walk<'_>) {
    let reserve = walk.reserve_points();
    delete_user(walk);
    assert_eq!(walk.reserve_points(), reserve + 125);
    check_history(walk);
    check_deactivated_user(walk);
    delete_occasion(walk);
}

fn delete_user(walk: &mut Walk<'_>) {
    walk.delete("/v1/users/@5");
    walk.get("/v1/users/@5");
    let before = walk.read_json("/v1/users/@5");
    walk.delete("/v1/users/@5");
    assert_eq!(walk.read_json("/v1/users/@5"), before);
    walk.get("/v1/companies/@2");
}

fn check_history(walk: &mut Walk<'_>) {
    walk.get("/v1/users/@5/balances");
    walk.get("/v1/users/@5/transactions?type=user_wallet");
    walk.get("/v1/users/@5/transactions?type=manager_wallet");
    walk.get("/v1/users/@5/transactions?type=peer_wallet");
    read_single_page(walk, "/v1/users/@5/recognitions_received");
    read_single_page(walk, "/v1/users/@5/recognitions_sent");
    let listed = walk.read_json("/v1/companies/@2/users/balances");
    let listed: Vec<_> = listed["users"].as_array().unwrap().iter().map(|user| user["id"].clone()).collect();
    assert_eq!(listed, [walk.id_at(3), walk.id_at(4)], "active users only");
}

fn check_deactivated_user(walk: &mut Walk<'_>) {
    let reserve = walk.reserve_points();
    walk.send_request("PUT", "/v1/users/@5", Some(r#"{"title":"x"}"#)).expect_error(400);
    let send = |kind: &str, sender: &str, receiver: &str, field: &str| {
        let body = json!({
            "occasion_id": "@6", "sender_type": kind, "sender_id": sender, "receiver_ids": receiver,
            "points_per_receiver": 1,
        });
        let message =
            walk.send_request("POST", "/v1/recognitions", Some(&body.to_string())).expect_error(400);
        assert!(message.starts_with(field), "{message}");
    };
    send("user", "@5", "@4", "sender_id");
    send("company", "@2", "@4,@5", "receiver_ids");
    assert_eq!(walk.reserve_points(), reserve);
    let again = r#"{"company_id":"@2","email":"bob@example.com","first_name":"Bob","last_name":"Two"}"#;
    let response = walk.send_request("POST", "/v1/users", Some(again));
    assert_eq!(response.status, 201, "the email is available again: {}", response.body);
    let owner =
        walk.send_request("PUT", "/v1/companies/@2", Some(r#"{"owner_email":"eve@example.com"}"#)).json();
    assert_ne!(owner["owner_id"], json!(walk.id_at(15)), "a deleted user cannot become the owner");
    assert_eq!(owner["owner_name"], "Olive Owner");
    let back =
        walk.send_request("PUT", "/v1/companies/@2", Some(r#"{"owner_email":"olive@example.com"}"#)).json();
    assert_eq!(back["owner_id"], json!(walk.id_at(3)));
}

fn delete_occasion(walk: &mut Walk<'_>) {
    walk.delete("/v1/occasions/@6");
    walk.assert_refused("GET", "/v1/occasions/@6", None, 404, "occasion not found: id @6");
    walk.assert_refused("PUT", "/v1/occasions/@6", Some("{}"), 404, "occasion not found: id @6");
    walk.assert_refused("DELETE", "/v1/occasions/@6", None, 404, "occasion not found: id @6");
    read_single_page(walk, "/v1/companies/@2/occasions");
    read_single_page(walk, "/v1/users/@4/recognitions_sent");
    let body = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@4",
        "points_per_receiver": 1,
    });
    let message = walk.send_request("POST", "/v1/recognitions", Some(&body.to_string())).expect_error(404);
    assert!(message.contains("occasion_id"), "{message}");
}

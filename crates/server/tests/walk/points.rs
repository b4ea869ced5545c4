//! Points are deposited, distributed and sent. A new rate takes effect immediately.

use serde_json::{Value, json};

use super::Walk;

pub fn check_points(walk: &mut Walk<'_>) {
    let company = walk.id_at(2);
    let run = |who: &'static str, wallet, points| {
        ["distribution", "run", "@2", "--wallet", wallet, "--points", points, "--user", who]
    };
    let reserve = walk.run_command(&["reserve", "deposit", "@2", "--points", "1000"]);
    assert_eq!(reserve, json!({"company_id": company, "points": 1000}));
    let result = json!({"company_id": company, "users": 1, "points": 40});
    assert_eq!(walk.run_command(&run("@4", "peer_wallet", "40")), result);
    let result = json!({"company_id": company, "users": 1, "points": 30});
    assert_eq!(walk.run_command(&run("@5", "manager_wallet", "30")[..7]), result); // every active manager
    send_recognitions(walk);
    check_refusals(walk);
    check_balances(walk);
    check_transactions(walk);
}

fn send_recognitions(walk: &mut Walk<'_>) {
    let body = json!({
        "occasion_id": "@6", "sender_type": "user", "sender_id": "@4", "receiver_ids": "@5",
        "points_per_receiver": 15, "message": "Well done,\n\"Bob\"", "share": false,
    });
    walk.post("/v1/recognitions", &body.to_string());
    let body = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@5 , @4",
        "points_per_receiver": 100,
    });
    walk.post("/v1/recognitions", &body.to_string());
    let body = json!({
        "occasion_id": "@7", "sender_type": "user", "sender_id": "@5", "receiver_ids": "@4",
        "points_per_receiver": 20, "message": null,
    });
    walk.post("/v1/recognitions", &body.to_string());
}

fn check_refusals(walk: &mut Walk<'_>) {
    let body = json!({
        "occasion_id": "@6", "sender_type": "user", "sender_id": "@4", "receiver_ids": "@5,@3",
        "points_per_receiver": 13,
    });
    let send = |points: i64, message: &str| {
        let mut body = body.clone();
        body["points_per_receiver"] = points.into();
        walk.assert_refused("POST", "/v1/recognitions", Some(&body.to_string()), 400, message);
    };
    send(13, "Insufficient funds");
    send(250_000, "Insufficient funds");
    let range = "Invalid points_per_receiver, value must be between 1 and 250000";
    send(0, range);
    send(-1, range);
    send(250_001, range);
    assert_eq!(walk.reserve_points(), 730);
}

fn check_balances(walk: &mut Walk<'_>) {
    walk.get("/v1/users/@3/balances");
    walk.get("/v1/users/@4/balances");
    walk.get("/v1/users/@5/balances");
    walk.get("/v1/companies/@2/users/balances");
}

fn check_transactions(walk: &mut Walk<'_>) {
    for user in ["@4", "@5"] {
        for wallet in ["user_wallet", "peer_wallet", "manager_wallet"] {
            walk.get(&format!("/v1/users/{user}/transactions?type={wallet}"));
        }
    }
}

/// Returns two numbers for each wallet in a list of balances: its points, and the points spent from it.
fn wallet_points(balances: &Value) -> Vec<i64> {
    let users = balances["users"].as_array().unwrap().iter();
    let wallets = users.flat_map(|user| user["wallets"].as_array().unwrap());
    let numbers = wallets.flat_map(|wallet| [&wallet["points"], &wallet["cumulative_points_spent"]]);
    numbers.map(|number| number.as_i64().unwrap()).collect()
}

/// Balances are stored as money. At twice the rate, every wallet shows twice as many points, and the history does not
/// change.
pub fn change_rate(walk: &mut Walk<'_>) {
    let rate = |points| format!(r#"{{"points_per_dollar":{points}}}"#);
    let shown = walk.read_json("/v1/companies/@2");
    let before = wallet_points(&walk.read_json("/v1/companies/@2/users/balances"));
    walk.put_changed("/v1/companies/@2", &rate(100));
    assert_eq!(walk.read_json("/v1/companies/@2")["points_per_dollar"], 100);
    assert_eq!(walk.reserve_points(), 1460);
    walk.get("/v1/users/@4/balances");
    walk.get("/v1/users/@5/balances");
    let after = walk.get("/v1/companies/@2/users/balances").json();
    assert_eq!(wallet_points(&after), before.iter().map(|points| points * 2).collect::<Vec<_>>());
    check_transactions(walk);
    let body = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@5",
        "points_per_receiver": 500_001,
    });
    let range = "Invalid points_per_receiver, value must be between 1 and 500000";
    walk.assert_refused("POST", "/v1/recognitions", Some(&body.to_string()), 400, range);
    walk.put_changed("/v1/companies/@2", &rate(50));
    check_balances(walk);
    let mut now = walk.read_json("/v1/companies/@2");
    now["updated_at"] = shown["updated_at"].clone();
    assert_eq!(now, shown);
}

//! Points are deposited, distributed and sent. A new rate takes effect immediately.

use serde_json::json;

use super::{Walk, replace_part};

pub const ANN_TO_BOB: &str = r#"{"id":"@10","receiver_id":"@5","sender_type":"user","sender_id":"@4",
    "message":"Well done,\n\"Bob\"","points":15,"share":false,"occasion_id":"@6","company_id":"@2",
    "created_at":"@time"}"#;
pub const COMPANY_TO_BOB: &str = r#"{"id":"@11","receiver_id":"@5","sender_type":"company","sender_id":"@2",
    "message":"Thank you","points":100,"share":true,"occasion_id":"@6","company_id":"@2","created_at":"@time"}"#;
pub const COMPANY_TO_ANN: &str = r#"{"id":"@12","receiver_id":"@4","sender_type":"company","sender_id":"@2",
    "message":"Thank you","points":100,"share":true,"occasion_id":"@6","company_id":"@2","created_at":"@time"}"#;
pub const BOB_TO_ANN: &str = r#"{"id":"@13","receiver_id":"@4","sender_type":"user","sender_id":"@5",
    "message":"Many happy returns","points":20,"share":true,"occasion_id":"@7","company_id":"@2",
    "created_at":"@time"}"#;
const OLIVES: &str = r#"{"id":"@3","wallets":[{"type":"user_wallet","points":0,"cumulative_points_spent":0},
    {"type":"peer_wallet","points":0,"cumulative_points_spent":0}]}"#;
const ANNS: &str = r#"{"id":"@4","wallets":[{"type":"user_wallet","points":120,"cumulative_points_spent":0},
    {"type":"peer_wallet","points":25,"cumulative_points_spent":15}]}"#;
const BOBS: &str = r#"{"id":"@5","wallets":[{"type":"user_wallet","points":115,"cumulative_points_spent":0},
    {"type":"peer_wallet","points":0,"cumulative_points_spent":0},
    {"type":"manager_wallet","points":10,"cumulative_points_spent":20}]}"#;

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
    let sent = |recognitions: &[&str]| format!(r#"{{"recognitions":[{}]}}"#, recognitions.join(","));
    let body = json!({
        "occasion_id": "@6", "sender_type": "user", "sender_id": "@4", "receiver_ids": "@5",
        "points_per_receiver": 15, "message": "Well done,\n\"Bob\"", "share": false,
    });
    walk.post("/v1/recognitions", &body.to_string(), &sent(&[ANN_TO_BOB]));
    let body = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@5 , @4",
        "points_per_receiver": 100,
    });
    walk.post("/v1/recognitions", &body.to_string(), &sent(&[COMPANY_TO_BOB, COMPANY_TO_ANN]));
    let body = json!({
        "occasion_id": "@7", "sender_type": "user", "sender_id": "@5", "receiver_ids": "@4",
        "points_per_receiver": 20, "message": null,
    });
    walk.post("/v1/recognitions", &body.to_string(), &sent(&[BOB_TO_ANN]));
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
    walk.get("/v1/users/@3/balances", OLIVES);
    walk.get("/v1/users/@4/balances", ANNS);
    walk.get("/v1/users/@5/balances", BOBS);
    walk.get("/v1/companies/@2/users/balances", &company_balances(&[OLIVES, ANNS, BOBS]));
}

fn company_balances(users: &[&str]) -> String {
    format!(r#"{{"id":"@2","users":[{}]}}"#, users.join(","))
}

fn check_transactions(walk: &mut Walk<'_>) {
    let mut check = |user: &str, wallet: &str, expected: &[(&str, u32, &str)]| {
        let lines: Vec<String> = expected
            .iter()
            .map(|(kind, points, reason)| {
                let points = format!(r#""points":{points}"#);
                format!(r#"{{"type":"{kind}",{points},"reason":"{reason}","created_at":"@time"}}"#)
            })
            .collect();
        let lines = lines.join(",");
        let expected = format!(r#"{{"id":"{user}","type":"{wallet}","transactions":[{lines}]}}"#);
        walk.get(&format!("/v1/users/{user}/transactions?type={wallet}"), &expected);
    };
    check("@4", "user_wallet", &[("credit", 20, "recognition"), ("credit", 100, "recognition")]);
    check("@4", "peer_wallet", &[("debit", 15, "recognition"), ("credit", 40, "point distribution")]);
    check("@4", "manager_wallet", &[]);
    check("@5", "user_wallet", &[("credit", 100, "recognition"), ("credit", 15, "recognition")]);
    check("@5", "peer_wallet", &[]);
    check("@5", "manager_wallet", &[("debit", 20, "recognition"), ("credit", 30, "point distribution")]);
}

/// Balances are stored as money. At twice the rate, every wallet shows twice as many points, and the history does not
/// change.
pub fn change_rate(walk: &mut Walk<'_>) {
    let rate = |points| format!(r#"{{"points_per_dollar":{points}}}"#);
    let shown = walk.read_json("/v1/companies/@2");
    walk.put_changed("/v1/companies/@2", &rate(100), super::creation::EXAMPLE);
    assert_eq!(walk.read_json("/v1/companies/@2")["points_per_dollar"], 100);
    assert_eq!(walk.reserve_points(), 1460);
    let anns = replace_part(
        &replace_part(ANNS, ":120,", ":240,"),
        r#":25,"cumulative_points_spent":15"#,
        r#":50,"cumulative_points_spent":30"#,
    );
    walk.get("/v1/users/@4/balances", &anns);
    let bobs = replace_part(
        &replace_part(BOBS, ":115,", ":230,"),
        r#":10,"cumulative_points_spent":20"#,
        r#":20,"cumulative_points_spent":40"#,
    );
    walk.get("/v1/users/@5/balances", &bobs);
    walk.get("/v1/companies/@2/users/balances", &company_balances(&[OLIVES, &anns, &bobs]));
    check_transactions(walk);
    let body = json!({
        "occasion_id": "@6", "sender_type": "company", "sender_id": "@2", "receiver_ids": "@5",
        "points_per_receiver": 500_001,
    });
    let range = "Invalid points_per_receiver, value must be between 1 and 500000";
    walk.assert_refused("POST", "/v1/recognitions", Some(&body.to_string()), 400, range);
    walk.put_changed("/v1/companies/@2", &rate(50), super::creation::EXAMPLE);
    check_balances(walk);
    let mut now = walk.read_json("/v1/companies/@2");
    now["updated_at"] = shown["updated_at"].clone();
    assert_eq!(now, shown);
}

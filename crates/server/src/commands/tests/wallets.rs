//! Redemptions, overrides, and their events.

use guerdon_domain::ports::StoreExt as _;
use serde_json::{Value, json};

use super::{NOBODY, Setup, company, names};

/// Creates a company with points in its owner's user wallet. Returns the ids of both.
fn funded(setup: &Setup, points: &str) -> (String, String) {
    let id = company(setup);
    setup.json(&["reserve", "deposit", &id, "--points", "1000"]);
    setup.json(&["distribution", "run", &id, "--wallet", "user_wallet", "--points", points]);
    let company = id.parse().unwrap();
    let users = setup.environment.store.snapshot(|reads| reads.active_users(company, false)).unwrap();
    (id, users[0].to_string())
}

#[test]
fn a_redemption_with_a_key_runs_once_and_is_refunded_once() {
    let setup = Setup::new();
    let (_, user) = funded(&setup, "100");
    let words = ["redemption", "create", &user, "--points", "30", "--key", "k"];
    let made = setup.run(&words).unwrap();
    assert_eq!(names(&made), ["id", "user_id", "points"]);
    assert_eq!(setup.run(&words).unwrap(), made);
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!((&made["user_id"], &made["points"]), (&json!(user), &json!(30)));
    setup.refused(&["redemption", "create", &user, "--points", "71"], "Insufficient funds");
    setup.refused(&["redemption", "create", &user, "--points", "0"], "points must be");
    setup.refused(&["redemption", "create", NOBODY, "--points", "1"], "no active user");
    let id = made["id"].as_str().unwrap();
    assert_eq!(setup.json(&["redemption", "refund", id]), made);
    setup.refused(&["redemption", "refund", id], "refunded already");
    setup.refused(&["redemption", "refund", NOBODY], "no redemption");
    assert_eq!(setup.json(&["verify"])["ok"], true);
}

#[test]
fn an_override_shows_the_new_balance() {
    let setup = Setup::new();
    let (company, user) = funded(&setup, "100");
    let put = |points: &str| {
        setup.run(&[
            "wallet",
            "override",
            &user,
            "--wallet",
            "peer_wallet",
            "--points",
            points,
            "--key",
            points,
        ])
    };
    let shown = |points: i64| format!(r#"{{"user_id":"{user}","wallet":"peer_wallet","points":{points}}}"#);
    assert_eq!(put("200").unwrap(), shown(200));
    assert_eq!(put("0").unwrap(), shown(0));
    assert_eq!(put("200").unwrap(), shown(200), "the stored response");
    assert_eq!(setup.json(&["reserve", "show", &company])["points"], 900);
    let too_many = ["wallet", "override", &user, "--wallet", "peer_wallet", "--points", "901"];
    setup.refused(&too_many, "Insufficient funds");
    let none = ["wallet", "override", &user, "--wallet", "manager_wallet", "--points", "1"];
    setup.refused(&none, "no such wallet");
}

#[test]
fn events_are_listed_and_replayed() {
    let setup = Setup::new();
    let (_, user) = funded(&setup, "100");
    assert_eq!(setup.run(&["event", "list"]).unwrap(), "[]");
    setup.json(&["redemption", "create", &user, "--points", "1"]);
    setup.json(&["redemption", "create", &user, "--points", "2"]);
    let listed = setup.run(&["event", "list"]).unwrap();
    let order = ["id", "provider_id", "type", "state", "attempts", "next_attempt_at", "created_at"];
    assert_eq!(names(&listed)[..7], order);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let text = |at: usize, key: &str| listed[at][key].as_str().unwrap().to_owned();
    let (first, second, provider) = (text(0, "id"), text(1, "id"), text(0, "provider_id"));
    let shown = json!({
        "id": first, "provider_id": provider, "type": "redemption.created", "state": "unaddressed", "attempts": 0,
        "next_attempt_at": null, "created_at": text(0, "created_at"),
    });
    assert_eq!(listed[0], shown);
    assert_eq!(setup.json(&["event", "list", "--state", "delivered"]), json!([]));
    assert_eq!(setup.json(&["event", "list", "--provider", NOBODY]), json!([]));
    assert_eq!(setup.json(&["event", "replay", &first]), json!({"replayed": 1}));
    assert_eq!(
        setup.json(&["event", "replay", &first]),
        json!({"replayed": 0}),
        "the event is already pending"
    );
    setup.refused(&["event", "replay", &second, NOBODY], "no event has the id");
    let all = ["event", "replay", "--provider", &provider, "--state", "unaddressed"];
    assert_eq!(setup.json(&all), json!({"replayed": 1}), "the refused command replayed nothing");
    let pending = setup.json(&["event", "list", "--provider", &provider, "--state", "pending"]);
    assert_eq!(pending.as_array().unwrap().len(), 2);
    let nobodys = ["event", "replay", "--provider", NOBODY, "--state", "exhausted"];
    setup.refused(&nobodys, "no provider has this id");
}

#[test]
fn a_replay_names_events_or_a_provider_and_a_state() {
    use clap::Parser as _;
    let parses = |words: &[&str]| {
        let line = ["guerdon", "event", "replay"].iter().chain(words).copied();
        super::CommandLine::try_parse_from(line).is_ok()
    };
    assert!(parses(&[NOBODY]));
    assert!(parses(&[NOBODY, NOBODY]));
    assert!(parses(&["--provider", NOBODY, "--state", "exhausted"]));
    for wrong in [
        &[][..],
        &["--provider", NOBODY],
        &["--state", "exhausted"],
        &[NOBODY, "--state", "exhausted"],
        &[NOBODY, "--provider", NOBODY, "--state", "exhausted"],
        &["--provider", NOBODY, "--state", "pending"],
        &["x"],
    ] {
        assert!(!parses(wrong), "{wrong:?}");
    }
}

#[test]
fn updating_a_missing_recognition_is_refused() {
    let setup = Setup::new();
    setup.refused(&["recognition", "update", NOBODY, "--share", "false"], "no recognition has this id");
    setup.refused(&["recognition", "update", NOBODY, "--message", " "], "message must not be blank");
    use clap::Parser as _;
    assert!(super::CommandLine::try_parse_from(["guerdon", "recognition", "update", NOBODY]).is_err());
}

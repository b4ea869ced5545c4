//! Redemptions, overrides, and their events.

use guerdon_domain::ports::StoreExt as _;
use serde_json::{Value, json};

use super::{MISSING_ID, Setup, create_company, field_names};

/// Creates a company with points in its owner's user wallet. Returns the ids of both.
fn create_funded_company(setup: &Setup, points: &str) -> (String, String) {
    let id = create_company(setup);
    setup.run_for_value(&["reserve", "deposit", &id, "--points", "1000"]);
    setup.run_for_value(&["distribution", "run", &id, "--wallet", "user_wallet", "--points", points]);
    let company = id.parse().unwrap();
    let users =
        setup.environment.store.read_snapshot(|reads| reads.list_active_user_ids(company, false)).unwrap();
    (id, users[0].to_string())
}

#[test]
fn a_redemption_with_a_key_runs_once_and_is_refunded_once() {
    let setup = Setup::new();
    let (_, user) = create_funded_company(&setup, "100");
    let arguments = ["redemption", "create", &user, "--points", "30", "--key", "k"];
    let redemption = setup.run_for_json(&arguments).unwrap();
    assert_eq!(field_names(&redemption), ["id", "user_id", "points"]);
    assert_eq!(setup.run_for_json(&arguments).unwrap(), redemption);
    let redemption: Value = serde_json::from_str(&redemption).unwrap();
    assert_eq!((&redemption["user_id"], &redemption["points"]), (&json!(user), &json!(30)));
    setup.assert_refused(&["redemption", "create", &user, "--points", "71"], "Insufficient funds");
    setup.assert_refused(&["redemption", "create", &user, "--points", "0"], "points must be");
    setup.assert_refused(&["redemption", "create", MISSING_ID, "--points", "1"], "no user has the id");
    let id = redemption["id"].as_str().unwrap();
    assert_eq!(setup.run_for_value(&["redemption", "refund", id]), redemption);
    setup.assert_refused(&["redemption", "refund", id], "refunded already");
    setup.assert_refused(&["redemption", "refund", MISSING_ID], "no redemption");
    assert_eq!(setup.run_for_value(&["verify"])["ok"], true);
}

#[test]
fn an_override_shows_the_new_balance() {
    let setup = Setup::new();
    let (company, user) = create_funded_company(&setup, "100");
    let override_balance = |points: &str| {
        setup.run_for_json(&[
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
    let expected =
        |points: i64| format!(r#"{{"user_id":"{user}","wallet":"peer_wallet","points":{points}}}"#);
    assert_eq!(override_balance("200").unwrap(), expected(200));
    assert_eq!(override_balance("0").unwrap(), expected(0));
    assert_eq!(override_balance("200").unwrap(), expected(200), "the stored response");
    assert_eq!(setup.run_for_value(&["reserve", "show", &company])["points"], 900);
    let too_many = ["wallet", "override", &user, "--wallet", "peer_wallet", "--points", "901"];
    setup.assert_refused(&too_many, "Insufficient funds");
    let none = ["wallet", "override", &user, "--wallet", "manager_wallet", "--points", "1"];
    setup.assert_refused(&none, "no such wallet");
}

#[test]
fn events_are_listed_and_replayed() {
    let setup = Setup::new();
    let (_, user) = create_funded_company(&setup, "100");
    assert_eq!(setup.run_for_json(&["event", "list"]).unwrap(), "[]");
    setup.run_for_value(&["redemption", "create", &user, "--points", "1"]);
    setup.run_for_value(&["redemption", "create", &user, "--points", "2"]);
    let listed = setup.run_for_json(&["event", "list"]).unwrap();
    let order = ["id", "provider_id", "type", "state", "attempts", "next_attempt_at", "created_at"];
    assert_eq!(field_names(&listed)[..7], order);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let text = |at: usize, key: &str| listed[at][key].as_str().unwrap().to_owned();
    let (first, second, provider) = (text(0, "id"), text(1, "id"), text(0, "provider_id"));
    let expected = json!({
        "id": first, "provider_id": provider, "type": "redemption.created", "state": "unaddressed", "attempts": 0,
        "next_attempt_at": null, "created_at": text(0, "created_at"),
    });
    assert_eq!(listed[0], expected);
    assert_eq!(setup.run_for_value(&["event", "list", "--state", "delivered"]), json!([]));
    assert_eq!(setup.run_for_value(&["event", "list", "--provider", MISSING_ID]), json!([]));
    assert_eq!(setup.run_for_value(&["event", "replay", &first]), json!({"replayed": 1}));
    assert_eq!(
        setup.run_for_value(&["event", "replay", &first]),
        json!({"replayed": 0}),
        "the event is already pending"
    );
    setup.assert_refused(&["event", "replay", &second, MISSING_ID], "no event has the id");
    let all = ["event", "replay", "--provider", &provider, "--state", "unaddressed"];
    assert_eq!(setup.run_for_value(&all), json!({"replayed": 1}), "the refused command replayed nothing");
    let pending = setup.run_for_value(&["event", "list", "--provider", &provider, "--state", "pending"]);
    assert_eq!(pending.as_array().unwrap().len(), 2);
    let missing_provider = ["event", "replay", "--provider", MISSING_ID, "--state", "exhausted"];
    setup.assert_refused(&missing_provider, "no provider has this id");
}

#[test]
fn a_replay_names_events_or_a_provider_and_a_state() {
    use clap::Parser as _;
    let parses = |arguments: &[&str]| {
        let line = ["guerdon", "event", "replay"].iter().chain(arguments).copied();
        super::CommandLine::try_parse_from(line).is_ok()
    };
    assert!(parses(&[MISSING_ID]));
    assert!(parses(&[MISSING_ID, MISSING_ID]));
    for state in ["pending", "exhausted", "unaddressed"] {
        assert!(parses(&["--provider", MISSING_ID, "--state", state]));
    }
    for wrong in [
        &[][..],
        &["--provider", MISSING_ID],
        &["--state", "exhausted"],
        &[MISSING_ID, "--state", "exhausted"],
        &[MISSING_ID, "--provider", MISSING_ID, "--state", "exhausted"],
        &["--provider", MISSING_ID, "--state", "delivered"],
        &["x"],
    ] {
        assert!(!parses(wrong), "{wrong:?}");
    }
}

#[test]
fn updating_a_missing_recognition_is_refused() {
    let setup = Setup::new();
    setup.assert_refused(
        &["recognition", "update", MISSING_ID, "--share", "false"],
        "no recognition has this id",
    );
    setup.assert_refused(
        &["recognition", "update", MISSING_ID, "--message", " "],
        "message must not be blank",
    );
    use clap::Parser as _;
    assert!(super::CommandLine::try_parse_from(["guerdon", "recognition", "update", MISSING_ID]).is_err());
}

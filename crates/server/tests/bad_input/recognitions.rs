//! The rules of a recognition: the range of points, the balance, the sender and the occasion (behaviour 15).

use serde_json::{Value, json};

use super::{InputFixture, for_each_input_fixture, reports_field};
use crate::support::{SampleCompany, occasion_body};
use crate::support::{company_body, created_id, for_each_database, user_body};

const PATH: &str = "/v1/recognitions";

/// The points of a user's wallet.
fn read_balance(fixture: &InputFixture<'_>, user: usize, wallet: &str) -> i64 {
    fixture.sample.read_balance(fixture.service, &fixture.sample.users[user], wallet).unwrap()
}

#[test]
fn points_out_of_range_are_reported_before_insufficient_funds() {
    for_each_input_fixture(|fixture| {
        let sample = &fixture.sample;
        let mut body = sample.recognition_body("user", &sample.users[2], &[&sample.users[1]], 1);
        let mut check = |min_points: i64, max_points: i64| {
            let words =
                format!("Invalid points_per_receiver, value must be between {min_points} and {max_points}");
            let beyond = [json!(9_223_372_036_854_775_808_u64), json!(u64::MAX)];
            let out = [min_points - 1, -1, max_points + 1, i64::MAX, i64::MIN].map(Value::from);
            for points in out.into_iter().chain(beyond) {
                body["points_per_receiver"] = points.clone();
                assert_eq!(fixture.post(PATH, &body).expect_error(400), words, "{points}");
            }
            body["points_per_receiver"] = json!(max_points);
            assert_eq!(
                fixture.post(PATH, &body).expect_error(400),
                "Insufficient funds",
                "{max_points} points are in the range"
            );
        };
        let company = format!("/v1/companies/{}", sample.company);
        for rate in [50, 1, 3, 7, 10_000] {
            assert_eq!(fixture.put(&company, &json!({"points_per_dollar": rate})).status, 200);
            fixture.assert_nothing_changes(|| check(1, 5_000 * rate));
        }
        fixture.service.run_json_command(&[
            "company",
            "options",
            &sample.company,
            "--allow-zero-points",
            "true",
        ]);
        fixture.assert_nothing_changes(|| check(0, 50_000_000));
    });
}

#[test]
fn non_integer_points_are_reported_with_the_other_faults() {
    for_each_input_fixture(|fixture| {
        fixture.assert_nothing_changes(|| {
            let body = json!({"occasion_id": "x", "sender_type": "x", "sender_id": 1, "receiver_ids": [], "share": 1,
                "points_per_receiver": "1", "message": {}});
            let message = fixture.post(PATH, &body).expect_error(400);
            for (name, _) in body.as_object().unwrap() {
                assert!(reports_field(&message, name), "{name}: {message}");
            }
        });
    });
}

#[test]
fn zero_points_are_accepted_if_the_company_allows_them() {
    for_each_input_fixture(|fixture| {
        let sample = &fixture.sample;
        let body = sample.recognition_body("user", &sample.users[0], &[&sample.users[1]], 0);
        fixture.assert_nothing_changes(|| {
            let message = fixture.post(PATH, &body).expect_error(400);
            assert_eq!(message, "Invalid points_per_receiver, value must be between 1 and 250000");
        });
        fixture.service.run_json_command(&[
            "company",
            "options",
            &sample.company,
            "--allow-zero-points",
            "true",
        ]);
        let transfers = fixture.service.database.count_rows("transfers");
        let before = (read_balance(fixture, 0, "peer_wallet"), read_balance(fixture, 1, "user_wallet"));
        let response = fixture.post(PATH, &body);
        assert_eq!(response.status, 201, "{}", response.body);
        assert_eq!(response.json()["recognitions"][0]["points"], 0);
        assert_eq!(
            (read_balance(fixture, 0, "peer_wallet"), read_balance(fixture, 1, "user_wallet")),
            before
        );
        assert_eq!(fixture.service.database.count_rows("transfers"), transfers);
    });
}

#[test]
fn a_wallet_pays_its_displayed_points_and_no_more() {
    for_each_database(|service| {
        for (at, rate) in [50, 3, 7, 9_999].into_iter().enumerate() {
            let provider = service.create_provider("Acme", true);
            let sample = SampleCompany::create_in_domain(service, provider, &format!("n{at}.example.com"), 5);
            let company = format!("/v1/companies/{}", sample.company);
            assert_eq!(
                service.put(&sample.provider, &company, &json!({"points_per_dollar": rate})).status,
                200
            );
            let [ann, bob, cid, dan, eve] = [0, 1, 2, 3, 4].map(|at| sample.users[at].as_str());
            let distribute = |wallet: &str, user: &str, points: &str| {
                let words = [
                    "distribution",
                    "run",
                    &sample.company,
                    "--wallet",
                    wallet,
                    "--points",
                    points,
                    "--user",
                    user,
                ];
                service.run_json_command(&words);
            };
            sample.deposit_points(service, 300);
            let path = format!("/v1/users/{bob}");
            assert_eq!(service.put(&sample.provider, &path, &json!({"manager": true})).status, 200);
            distribute("peer_wallet", ann, "100");
            distribute("peer_wallet", bob, "10");
            distribute("manager_wallet", bob, "90");
            let reserve =
                service.run_json_command(&["reserve", "show", &sample.company])["points"].as_i64().unwrap();
            assert_eq!(reserve, 100, "at a rate of {rate}");
            let refused = |sender: &str, receivers: &[&str], points: i64| {
                let message = sample.send_recognition(service, sender, receivers, points).expect_error(400);
                assert_eq!(message, "Insufficient funds", "at a rate of {rate}");
            };
            refused(ann, &[bob], 101);
            refused(ann, &[bob, cid], 51);
            refused(ann, &[bob, cid, dan, eve], 26);
            refused(bob, &[ann], 91);
            refused(bob, &[ann], 100); // a manager's two wallets are never combined
            refused(&sample.company, &[ann], 101);
            refused(cid, &[ann], 1); // a user wallet cannot send
            for (sender, receivers, points) in [
                (ann, &[bob, cid, dan, eve][..], 25),
                (bob, &[cid], 90),
                (bob, &[cid], 10),
                (&sample.company, &[dan], 100),
            ] {
                let response = sample.send_recognition(service, sender, receivers, points);
                assert_eq!(response.status, 201, "{points} at a rate of {rate}: {}", response.body);
            }
            for sender in [ann, bob, &sample.company] {
                refused(sender, &[eve], 1);
            }
            assert_eq!(sample.read_balance(service, cid, "user_wallet"), Some(125), "at a rate of {rate}");
            refused(cid, &[ann], 1);
        }
    });
}

#[test]
fn occasion_sender_and_receivers_must_belong_to_one_company() {
    for_each_input_fixture(|fixture| {
        let sample = &fixture.sample;
        let other = created_id(fixture.post("/v1/companies", &company_body("other.example.com")));
        let occasion = created_id(fixture.post("/v1/occasions", &occasion_body(&other)));
        let user = created_id(fixture.post("/v1/users", &user_body(&other, "eve")));
        fixture.service.run_json_command(&["reserve", "deposit", &other, "--points", "100"]);
        let base = sample.recognition_body("company", &sample.company, &[&sample.users[0]], 1);
        let check = |changes: &[(&str, &str)], field: &str| {
            let mut body = base.clone();
            for (name, value) in changes {
                body[*name] = json!(value);
            }
            let message = fixture.post(PATH, &body).expect_error(400);
            assert!(message.contains(field), "{field}: {message}");
        };
        fixture.assert_nothing_changes(|| {
            check(&[("occasion_id", &occasion)], "occasion_id");
            check(&[("receiver_ids", &user)], "receiver_ids");
            check(&[("receiver_ids", &format!("{},{user}", sample.users[0]))], "receiver_ids");
            check(&[("sender_id", &other)], "");
            check(&[("sender_type", "user"), ("sender_id", &user)], "");
            check(&[("sender_id", &other), ("receiver_ids", &user)], "occasion_id");
            check(&[("sender_id", &other), ("occasion_id", &occasion)], "receiver_ids");
        });
    });
}

#[test]
fn a_disabled_occasion_is_refused_and_an_invisible_one_allowed() {
    for_each_input_fixture(|fixture| {
        let sample = &fixture.sample;
        let body = sample.recognition_body("company", &sample.company, &[&sample.users[0]], 1);
        let path = format!("/v1/occasions/{}", sample.occasion);
        assert_eq!(fixture.put(&path, &json!({"enabled": false})).status, 200);
        fixture.assert_nothing_changes(|| {
            assert!(fixture.post(PATH, &body).expect_error(400).contains("occasion_id"))
        });
        assert_eq!(fixture.put(&path, &json!({"enabled": true, "visible": false})).status, 200);
        assert_eq!(fixture.post(PATH, &body).status, 201);
    });
}

#[test]
fn a_threshold_above_any_balance_refuses_nothing() {
    for_each_input_fixture(|fixture| {
        let path = format!("/v1/companies/{}", fixture.sample.company);
        for alert in [i64::MAX, i64::MAX - 1, 9_223_372_036, 9_223_372_037_i64 * 50] {
            let response = fixture.put(&path, &json!({"reserve_alert": alert}));
            assert!(matches!(response.status, 200 | 400), "{alert}: {}", response.body);
            if response.status == 200 {
                assert_eq!(fixture.get(&path).json()["reserve_alert"], alert);
            }
            for rate in [1, 10_000, 50] {
                assert_eq!(fixture.put(&path, &json!({"points_per_dollar": rate})).status, 200, "{alert}");
            }
            let sent = fixture.sample.send_recognition(
                fixture.service,
                &fixture.sample.company,
                &[&fixture.sample.users[0]],
                1,
            );
            assert_eq!(sent.status, 201, "{alert}: {}", sent.body);
            fixture.sample.deposit_points(fixture.service, 1);
        }
    });
}

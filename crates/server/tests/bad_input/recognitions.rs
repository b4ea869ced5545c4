//! The rules of a recognition: the range of points, the balance, the sender and the occasion (behaviour 15).

use serde_json::{Value, json};

use super::{Bench, names, on_bench};
use crate::support::{Sample, occasion_body};
use crate::support::{company_body, created, on_each, user_body};

const PATH: &str = "/v1/recognitions";

/// The points of a user's wallet.
fn shows(bench: &Bench<'_>, user: usize, wallet: &str) -> i64 {
    bench.sample.shows(bench.service, &bench.sample.users[user], wallet).unwrap()
}

#[test]
fn points_out_of_range_are_reported_before_insufficient_funds() {
    on_bench(|bench| {
        let sample = &bench.sample;
        let mut body = sample.recognition("user", &sample.users[2], &[&sample.users[1]], 1);
        let mut check = |least: i64, most: i64| {
            let words = format!("Invalid points_per_receiver, value must be between {least} and {most}");
            let beyond = [json!(9_223_372_036_854_775_808_u64), json!(u64::MAX)];
            let out = [least - 1, -1, most + 1, i64::MAX, i64::MIN].map(Value::from);
            for points in out.into_iter().chain(beyond) {
                body["points_per_receiver"] = points.clone();
                assert_eq!(bench.post(PATH, &body).error(400), words, "{points}");
            }
            body["points_per_receiver"] = json!(most);
            assert_eq!(
                bench.post(PATH, &body).error(400),
                "Insufficient funds",
                "{most} points are in the range"
            );
        };
        let company = format!("/v1/companies/{}", sample.company);
        for rate in [50, 1, 3, 7, 10_000] {
            assert_eq!(bench.put(&company, &json!({"points_per_dollar": rate})).status, 200);
            bench.unchanged(|| check(1, 5_000 * rate));
        }
        bench.service.json(&["company", "options", &sample.company, "--allow-zero-points", "true"]);
        bench.unchanged(|| check(0, 50_000_000));
    });
}

#[test]
fn non_integer_points_are_reported_with_the_other_faults() {
    on_bench(|bench| {
        bench.unchanged(|| {
            let body = json!({"occasion_id": "x", "sender_type": "x", "sender_id": 1, "receiver_ids": [], "share": 1,
                "points_per_receiver": "1", "message": {}});
            let message = bench.post(PATH, &body).error(400);
            for (name, _) in body.as_object().unwrap() {
                assert!(names(&message, name), "{name}: {message}");
            }
        });
    });
}

#[test]
fn zero_points_are_accepted_if_the_company_allows_them() {
    on_bench(|bench| {
        let sample = &bench.sample;
        let body = sample.recognition("user", &sample.users[0], &[&sample.users[1]], 0);
        bench.unchanged(|| {
            let message = bench.post(PATH, &body).error(400);
            assert_eq!(message, "Invalid points_per_receiver, value must be between 1 and 250000");
        });
        bench.service.json(&["company", "options", &sample.company, "--allow-zero-points", "true"]);
        let transfers = bench.service.database.count("transfers");
        let before = (shows(bench, 0, "peer_wallet"), shows(bench, 1, "user_wallet"));
        let answer = bench.post(PATH, &body);
        assert_eq!(answer.status, 201, "{}", answer.body);
        assert_eq!(answer.json()["recognitions"][0]["points"], 0);
        assert_eq!((shows(bench, 0, "peer_wallet"), shows(bench, 1, "user_wallet")), before);
        assert_eq!(bench.service.database.count("transfers"), transfers);
    });
}

#[test]
fn a_wallet_pays_its_displayed_points_and_no_more() {
    on_each(|service| {
        for (at, rate) in [50, 3, 7, 9_999].into_iter().enumerate() {
            let provider = service.provider("Acme", true);
            let sample = Sample::in_domain(service, provider, &format!("n{at}.example.com"), 5);
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
                service.json(&words);
            };
            sample.deposit(service, 300);
            let path = format!("/v1/users/{bob}");
            assert_eq!(service.put(&sample.provider, &path, &json!({"manager": true})).status, 200);
            distribute("peer_wallet", ann, "100");
            distribute("peer_wallet", bob, "10");
            distribute("manager_wallet", bob, "90");
            let reserve = service.json(&["reserve", "show", &sample.company])["points"].as_i64().unwrap();
            assert_eq!(reserve, 100, "at a rate of {rate}");
            let refused = |sender: &str, receivers: &[&str], points: i64| {
                let message = sample.send(service, sender, receivers, points).error(400);
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
                let answer = sample.send(service, sender, receivers, points);
                assert_eq!(answer.status, 201, "{points} at a rate of {rate}: {}", answer.body);
            }
            for sender in [ann, bob, &sample.company] {
                refused(sender, &[eve], 1);
            }
            assert_eq!(sample.shows(service, cid, "user_wallet"), Some(125), "at a rate of {rate}");
            refused(cid, &[ann], 1);
        }
    });
}

#[test]
fn occasion_sender_and_receivers_must_belong_to_one_company() {
    on_bench(|bench| {
        let sample = &bench.sample;
        let other = created(bench.post("/v1/companies", &company_body("other.example.com")));
        let occasion = created(bench.post("/v1/occasions", &occasion_body(&other)));
        let user = created(bench.post("/v1/users", &user_body(&other, "eve")));
        bench.service.json(&["reserve", "deposit", &other, "--points", "100"]);
        let base = sample.recognition("company", &sample.company, &[&sample.users[0]], 1);
        let check = |changes: &[(&str, &str)], field: &str| {
            let mut body = base.clone();
            for (name, value) in changes {
                body[*name] = json!(value);
            }
            let message = bench.post(PATH, &body).error(400);
            assert!(message.contains(field), "{field}: {message}");
        };
        bench.unchanged(|| {
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
    on_bench(|bench| {
        let sample = &bench.sample;
        let body = sample.recognition("company", &sample.company, &[&sample.users[0]], 1);
        let path = format!("/v1/occasions/{}", sample.occasion);
        assert_eq!(bench.put(&path, &json!({"enabled": false})).status, 200);
        bench.unchanged(|| assert!(bench.post(PATH, &body).error(400).contains("occasion_id")));
        assert_eq!(bench.put(&path, &json!({"enabled": true, "visible": false})).status, 200);
        assert_eq!(bench.post(PATH, &body).status, 201);
    });
}

#[test]
fn a_threshold_above_any_balance_refuses_nothing() {
    on_bench(|bench| {
        let path = format!("/v1/companies/{}", bench.sample.company);
        for alert in [i64::MAX, i64::MAX - 1, 9_223_372_036, 9_223_372_037_i64 * 50] {
            let answer = bench.put(&path, &json!({"reserve_alert": alert}));
            assert!(matches!(answer.status, 200 | 400), "{alert}: {}", answer.body);
            if answer.status == 200 {
                assert_eq!(bench.get(&path).json()["reserve_alert"], alert);
            }
            for rate in [1, 10_000, 50] {
                assert_eq!(bench.put(&path, &json!({"points_per_dollar": rate})).status, 200, "{alert}");
            }
            let sent = bench.sample.send(bench.service, &bench.sample.company, &[&bench.sample.users[0]], 1);
            assert_eq!(sent.status, 201, "{alert}: {}", sent.body);
            bench.sample.deposit(bench.service, 1);
        }
    });
}

//! `receiver_ids`: the format of the list and the permitted users (behaviour 15.3).

use std::fmt::Write as _;

use serde_json::json;

use super::{InputFixture, for_each_input_fixture};
use crate::support::service::ApiResponse;

fn send_recognition(
    fixture: &InputFixture<'_>,
    sender_type: &str,
    sender: &str,
    receivers: &str,
) -> ApiResponse {
    let mut body = fixture.sample.recognition_body(sender_type, sender, &[], 1);
    body["receiver_ids"] = json!(receivers);
    fixture.post("/v1/recognitions", &body)
}

/// `count` ids that do not exist.
fn unknown_ids(count: usize) -> String {
    (0..count).fold(String::new(), |mut all, at| {
        write!(all, "{}0193a5c0-0000-7000-8000-{at:012x}", if at == 0 { "" } else { "," }).unwrap();
        all
    })
}

#[test]
fn one_invalid_receiver_refuses_the_request() {
    for_each_input_fixture(|fixture| {
        let [ann, bob, cid] = [0, 1, 2].map(|at| fixture.sample.users[at].as_str());
        let deleted_user = &fixture.spare_user;
        assert_eq!(fixture.send_request("DELETE", &format!("/v1/users/{deleted_user}"), None).status, 204);
        let refused = |receivers: &str| {
            let message = send_recognition(fixture, "user", ann, receivers).expect_error(400);
            assert!(message.contains("receiver_ids"), "{receivers}: {message}");
        };
        fixture.assert_nothing_changes(|| {
            for bad in [
                "",
                ",",
                " ",
                " , ",
                "x",
                "*",
                &format!("{bob},"),
                &format!(",{bob}"),
                &format!("{bob},,{cid}"),
                &format!("{bob}, ,{cid}"),
                &format!("{bob};{cid}"),
                &format!("{bob} {cid}"),
                &format!("{bob}\n{cid}"),
                &format!("{bob}\t,{cid}\0"),
                &format!("[\"{bob}\"]"),
                &format!("{bob},{bob}"),
                &format!("{bob},{cid},{bob}"),
                &format!("{bob}, {bob}"),
                &format!("{bob},{}", bob.to_uppercase()),
                ann,
                &format!("{bob},{ann}"),
                &ann.to_uppercase(), // the sender, in upper case
                deleted_user,
                &format!("{bob},{deleted_user}"),
                &format!("{deleted_user},{bob}"),
                &unknown_ids(10_001),
                &format!("{}x", unknown_ids(10_000)),
            ] {
                refused(bad);
            }
            assert!(
                send_recognition(fixture, "user", ann, &unknown_ids(10_000))
                    .expect_error(404)
                    .contains("receiver_ids")
            );
            assert!(
                send_recognition(fixture, "user", ann, &format!("{bob},{}", unknown_ids(1)))
                    .expect_error(404)
                    .contains("receiver_ids")
            );
        });
    });
}

#[test]
fn blanks_around_commas_are_ignored_and_the_order_is_preserved() {
    for_each_input_fixture(|fixture| {
        let [ann, bob, cid] = [0, 1, 2].map(|at| fixture.sample.users[at].as_str());
        let order = |receivers: &str, expected: &[&str]| {
            let response = send_recognition(fixture, "company", &fixture.sample.company, receivers);
            assert_eq!(response.status, 201, "{receivers:?}: {}", response.body);
            let json = response.json();
            let ids: Vec<&str> = json["recognitions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|recognition| recognition["receiver_id"].as_str().unwrap())
                .collect();
            assert_eq!(ids, expected, "{receivers:?}");
        };
        order(&format!("{cid},{ann},{bob}"), &[cid, ann, bob]);
        order(&format!(" {bob} ,   {cid},{ann} "), &[bob, cid, ann]);
        order(&format!("{},{}", bob.to_uppercase(), ann), &[bob, ann]);
        order(&fixture.owner, &[&fixture.owner]); // a company may send to its owner
    });
}

#[test]
fn a_deleted_sender_is_400() {
    for_each_input_fixture(|fixture| {
        let deleted_user = &fixture.spare_user;
        assert_eq!(fixture.send_request("DELETE", &format!("/v1/users/{deleted_user}"), None).status, 204);
        fixture.assert_nothing_changes(|| {
            let message =
                send_recognition(fixture, "user", deleted_user, &fixture.sample.users[0]).expect_error(400);
            assert!(message.contains("sender_id"), "{message}");
        });
    });
}

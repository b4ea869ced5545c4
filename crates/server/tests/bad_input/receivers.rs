//! `receiver_ids`: the format of the list and the users it may name (behaviour 15.3).

use std::fmt::Write as _;

use serde_json::json;

use super::{Bench, on_bench};
use crate::support::service::Answer;

fn send(bench: &Bench<'_>, sender_type: &str, sender: &str, receivers: &str) -> Answer {
    let mut body = bench.sample.recognition(sender_type, sender, &[], 1);
    body["receiver_ids"] = json!(receivers);
    bench.post("/v1/recognitions", &body)
}

/// `count` ids that do not exist.
fn nobody(count: usize) -> String {
    (0..count).fold(String::new(), |mut all, at| {
        write!(all, "{}0193a5c0-0000-7000-8000-{at:012x}", if at == 0 { "" } else { "," }).unwrap();
        all
    })
}

#[test]
fn one_invalid_receiver_refuses_the_request() {
    on_bench(|bench| {
        let [ann, bob, cid] = [0, 1, 2].map(|at| bench.sample.users[at].as_str());
        let gone = &bench.spare_user;
        assert_eq!(bench.call("DELETE", &format!("/v1/users/{gone}"), None).status, 204);
        let refused = |receivers: &str| {
            let message = send(bench, "user", ann, receivers).error(400);
            assert!(message.contains("receiver_ids"), "{receivers}: {message}");
        };
        bench.unchanged(|| {
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
                &ann.to_uppercase(), // the sender itself
                gone,
                &format!("{bob},{gone}"),
                &format!("{gone},{bob}"),
                &nobody(10_001),
                &format!("{}x", nobody(10_000)),
            ] {
                refused(bad);
            }
            assert!(send(bench, "user", ann, &nobody(10_000)).error(404).contains("receiver_ids"));
            assert!(
                send(bench, "user", ann, &format!("{bob},{}", nobody(1))).error(404).contains("receiver_ids")
            );
        });
    });
}

#[test]
fn blanks_around_commas_are_ignored_and_the_order_is_preserved() {
    on_bench(|bench| {
        let [ann, bob, cid] = [0, 1, 2].map(|at| bench.sample.users[at].as_str());
        let order = |receivers: &str, expected: &[&str]| {
            let answer = send(bench, "company", &bench.sample.company, receivers);
            assert_eq!(answer.status, 201, "{receivers:?}: {}", answer.body);
            let json = answer.json();
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
        order(&bench.owner, &[&bench.owner]); // a company may send to its owner
    });
}

#[test]
fn a_deleted_sender_is_400() {
    on_bench(|bench| {
        let gone = &bench.spare_user;
        assert_eq!(bench.call("DELETE", &format!("/v1/users/{gone}"), None).status, 204);
        bench.unchanged(|| {
            let message = send(bench, "user", gone, &bench.sample.users[0]).error(400);
            assert!(message.contains("sender_id"), "{message}");
        });
    });
}

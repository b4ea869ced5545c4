//! The rules of a recognition, and races over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::support::service::Service;
use crate::support::{Sample, on_each};

#[test]
fn points_out_of_range_are_told_in_the_specs_words_before_the_funds() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        let words = "Invalid points_per_receiver, value must be between 1 and 250000";
        for points in [0, -1, 250_001, i64::MAX, i64::MIN] {
            let answer = sample.send(service, &sample.users[0], &[&sample.users[1]], points);
            assert_eq!(answer.error(400), words);
        }
        let mut beyond = sample.recognition("user", &sample.users[0], &[&sample.users[1]], 1);
        beyond["points_per_receiver"] = json!(9_223_372_036_854_775_808_u64);
        assert_eq!(service.post(&sample.provider, "/v1/recognitions", &beyond).error(400), words);
        let answer = sample.send(service, &sample.users[0], &[&sample.users[1]], 250_000);
        assert_eq!(answer.error(400), "Insufficient funds");
        let mut body = sample.recognition("user", &sample.users[0], &[&sample.users[1]], 1);
        for points in [json!("1"), json!(1.0), json!(null), json!(true)] {
            body["points_per_receiver"] = points;
            let message = service.post(&sample.provider, "/v1/recognitions", &body).error(400);
            assert!(message.starts_with("points_per_receiver"), "{message}");
        }
    });
}

#[test]
fn receivers_that_break_a_rule_stop_the_whole() {
    on_each(|service| {
        let sample = Sample::make(service, 3);
        let other = Sample::in_domain(service, sample.provider.clone(), "other.example.com", 0);
        sample.fund(service, 100);
        let [ann, bob, gone] = [0, 1, 2].map(|at| sample.users[at].as_str());
        assert_eq!(service.delete(&sample.provider, &format!("/v1/users/{gone}")).status, 204);
        let check = |receivers: &str| {
            let mut body = sample.recognition("user", ann, &[], 1);
            body["receiver_ids"] = json!(receivers);
            let message = service.post(&sample.provider, "/v1/recognitions", &body).error(400);
            assert!(message.contains("receiver_ids"), "{message}");
        };
        for bad in ["", ",", " ", "x", &format!("{bob},"), &format!("{bob},{bob}"), &format!("{bob},{ann}")] {
            check(bad);
        }
        check(&format!("{bob},{gone}"));
        check(&owner(service, &other));
        assert_eq!(sample.shows(service, bob, "user_wallet"), Some(0));
        assert_eq!(sample.shows(service, ann, "peer_wallet"), Some(100));
        let mut body = sample.recognition("user", ann, &[], 1);
        body["receiver_ids"] = json!([bob]);
        service.post(&sample.provider, "/v1/recognitions", &body).error(400);
    });
}

fn owner(service: &Service, sample: &Sample) -> String {
    let answer = service.get(&sample.provider, &format!("/v1/companies/{}", sample.company));
    answer.json()["owner_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_disabled_occasion_is_refused_and_an_invisible_one_allowed() {
    on_each(|service| {
        let sample = Sample::make(service, 1);
        sample.deposit(service, 10);
        let with = |field: &str| {
            let mut occasion = crate::support::occasion_body(&sample.company);
            occasion[field] = json!(false);
            let occasion =
                crate::support::created(service.post(&sample.provider, "/v1/occasions", &occasion));
            let mut body = sample.recognition("company", &sample.company, &[&sample.users[0]], 1);
            body["occasion_id"] = json!(occasion);
            service.post(&sample.provider, "/v1/recognitions", &body)
        };
        assert!(with("enabled").error(400).contains("occasion"));
        assert_eq!(with("visible").status, 201);
    });
}

#[test]
fn sixty_four_clients_spend_a_wallet_exactly_once() {
    on_each(|service| {
        let sample = Sample::make(service, 9);
        sample.fund(service, 40 * 5);
        let (sent, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (service, sample_ref) = (&*service, &sample);
        std::thread::scope(|scope| {
            for client in 0..64 {
                let (sent, refused) = (&sent, &refused);
                scope.spawn(move || {
                    for round in 0..3 {
                        let receiver = sample_ref.users[1 + (client + round) % 8].as_str();
                        let answer = sample_ref.send(service, &sample_ref.users[0], &[receiver], 5);
                        if answer.status == 201 {
                            sent.fetch_add(1, Ordering::Relaxed);
                        } else {
                            assert_eq!(answer.error(400), "Insufficient funds");
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!((sent.into_inner(), refused.into_inner()), (40, 64 * 3 - 40));
        assert_eq!(sample.shows(service, &sample.users[0], "peer_wallet"), Some(0));
    });
}

#[test]
fn the_owner_stays_and_a_single_word_leaves_the_last_name_empty() {
    on_each(|service| {
        let provider = service.provider("Acme", true);
        let mut body = crate::support::company_body("single.example.com");
        body["owner_name"] = json!("Cher");
        let made = service.post(&provider, "/v1/companies", &body).json();
        assert_eq!(made["owner_name"], "Cher");
        let path = format!("/v1/users/{}", made["owner_id"].as_str().unwrap());
        let owner = service.get(&provider, &path).json();
        assert_eq!(
            (&owner["first_name"], &owner["last_name"], &owner["company_admin"]),
            (&json!("Cher"), &json!(""), &json!(true))
        );
        assert!(service.delete(&provider, &path).error(400).contains("owner"));
    });
}

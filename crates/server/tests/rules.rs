//! Races over HTTP, and rules about a company's owner.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::support::{SampleCompany, for_each_database};

#[test]
fn sixty_four_clients_spend_a_wallet_exactly_once() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 9);
        sample.fund_peer_wallets(service, 40 * 5);
        let (sent, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (service, sample_ref) = (&*service, &sample);
        std::thread::scope(|scope| {
            for client in 0..64 {
                let (sent, refused) = (&sent, &refused);
                scope.spawn(move || {
                    for round in 0..3 {
                        let receiver = sample_ref.users[1 + (client + round) % 8].as_str();
                        let response =
                            sample_ref.send_recognition(service, &sample_ref.users[0], &[receiver], 5);
                        if response.status == 201 {
                            sent.fetch_add(1, Ordering::Relaxed);
                        } else {
                            assert_eq!(response.expect_error(400), "Insufficient funds");
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!((sent.into_inner(), refused.into_inner()), (40, 64 * 3 - 40));
        assert_eq!(sample.read_balance(service, &sample.users[0], "peer_wallet"), Some(0));
    });
}

#[test]
fn the_owner_cannot_be_deleted_and_a_single_word_leaves_the_last_name_empty() {
    for_each_database(|service| {
        let provider = service.create_provider("Acme", true);
        let mut body = crate::support::company_body("single.example.com");
        body["owner_name"] = json!("Cher");
        let company = service.post(&provider, "/v1/companies", &body).json();
        assert_eq!(company["owner_name"], "Cher");
        let path = format!("/v1/users/{}", company["owner_id"].as_str().unwrap());
        let owner = service.get(&provider, &path).json();
        assert_eq!(
            (&owner["first_name"], &owner["last_name"], &owner["company_admin"]),
            (&json!("Cher"), &json!(""), &json!(true))
        );
        assert!(service.delete(&provider, &path).expect_error(400).contains("owner"));
    });
}

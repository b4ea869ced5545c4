//! The hard maximum of 100 items (behaviour 6.1), reached with real data.

use crate::support::{SampleCompany, for_each_database};

#[test]
fn a_page_has_at_most_100_balances_or_transactions() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 101); // plus the owner
        sample.deposit_points(service, 1_000);
        for _ in 0..101 {
            let sent = sample.send_recognition(service, &sample.company, &[&sample.users[0]], 1);
            assert_eq!(sent.status, 201, "{}", sent.body);
        }
        let balances = format!("/v1/companies/{}/users/balances?", sample.company);
        let transactions = format!("/v1/users/{}/transactions?type=user_wallet&", sample.users[0]);
        for (path, items, rest) in [(balances, "users", 2), (transactions, "transactions", 1)] {
            for per_page in ["", "&per_page=100", "&per_page=101", "&per_page=9223372036854775807"] {
                let check = |page: u32, count: usize, neighbours: &str| {
                    let response = service.get(&sample.provider, &format!("{path}page={page}{per_page}"));
                    assert_eq!(response.status, 200, "{}", response.body);
                    assert_eq!(response.json()[items].as_array().unwrap().len(), count, "{path} {page}");
                    let first = format!("<{path}page=1&per_page=100>; rel=\"first\"");
                    let expected = format!("{first}, <{path}{neighbours}\"");
                    assert_eq!(response.header("link").unwrap(), expected);
                };
                check(1, 100, "page=2&per_page=100>; rel=\"next");
                check(2, rest, "page=1&per_page=100>; rel=\"prev");
                check(3, 0, "page=2&per_page=100>; rel=\"prev");
            }
        }
    });
}

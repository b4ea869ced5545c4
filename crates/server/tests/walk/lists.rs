//! Every list: its items, their order, its pages and its links.

use serde_json::Value;

use super::{Walk, replace_part};
use crate::support::company_body;

pub fn check_lists(walk: &mut Walk<'_>) {
    let other_provider = walk.service.create_provider("Stranger", true);
    let response = walk.service.post(&other_provider, "/v1/companies", &company_body("stranger.example.net"));
    assert_eq!(response.status, 201, "{}", response.body);

    read_single_page(walk, "/v1/companies");
    read_single_page(walk, "/v1/companies?corporation_id=@1");
    read_single_page(walk, "/v1/corporations");
    read_single_page(walk, "/v1/corporations/@1/companies");
    read_single_page(walk, "/v1/companies/@2/occasions");
    read_single_page(walk, "/v1/companies/@8/occasions");
    read_single_page(walk, "/v1/users/@3/recognitions_received");
    read_single_page(walk, "/v1/users/@3/recognitions_sent");
    read_single_page(walk, "/v1/users/@4/recognitions_received");
    read_single_page(walk, "/v1/users/@4/recognitions_sent");
    read_single_page(walk, "/v1/users/@5/recognitions_received");
    read_single_page(walk, "/v1/users/@5/recognitions_sent");

    read_two_pages(walk, "/v1/companies");
    read_two_pages(walk, "/v1/companies/@2/occasions");
    read_two_pages(walk, "/v1/users/@4/recognitions_received");
    read_two_pages(walk, "/v1/users/@5/recognitions_received");
    check_lists_without_total(walk);
}

/// Reads a list that fits on its first page: the default page, the largest page, and a page past the end.
pub fn read_single_page(walk: &mut Walk<'_>, path: &str) {
    let separator = if path.contains('?') { '&' } else { '?' };
    walk.get(path);
    for query in ["other=1&per_page=1000", "per_page=1001", "page=9"] {
        walk.get(&format!("{path}{separator}{query}"));
    }
    let path = format!("{path}{separator}page=0");
    walk.assert_refused("GET", &path, None, 400, "page must be a positive integer");
}

/// Reads a list of two items with one item per page. Asserts that both pages together are the whole list.
fn read_two_pages(walk: &mut Walk<'_>, path: &str) {
    let whole = walk.read_json(path)["results"].clone();
    let read_page =
        |number| walk.get(&format!("{path}?page={number}&per_page=1")).json()["results"][0].clone();
    assert_eq!(Value::from([1, 2].map(read_page).to_vec()), whole, "{path}");
}

/// Checks the two lists without an envelope. Their links lead from page to page, without a link to the last page.
fn check_lists_without_total(walk: &mut Walk<'_>) {
    let balances = "/v1/companies/@2/users/balances?";
    let transactions = "/v1/users/@4/transactions?type=peer_wallet&";
    for (path, items, total) in [(balances, "users", 3), (transactions, "transactions", 2)] {
        let whole = walk.read_json(path)[items].clone();
        assert_eq!(whole.as_array().unwrap().len(), total);
        for number in 1..=total + 1 {
            let response = walk.send_request("GET", &format!("{path}page={number}&per_page=1"), None);
            assert_eq!(response.status, 200, "{}", response.body);
            let expected: Vec<_> = whole.get(number - 1).into_iter().cloned().collect();
            assert_eq!(response.json()[items], Value::from(expected), "{path} {number}");
            let link =
                |page: usize, relation: &str| format!("<{path}page={page}&per_page=1>; rel=\"{relation}\"");
            let mut links = vec![link(1, "first")];
            links.extend((number > 1).then(|| link(number - 1, "prev")));
            links.extend((number < total).then(|| link(number + 1, "next")));
            assert_eq!(response.header("link").unwrap(), walk.with_ids(&links.join(", ")), "{path} {number}");
        }
        let response = walk.send_request("GET", &format!("{path}per_page=101"), None);
        let first = format!("<{path}page=1&per_page=100>; rel=\"first\"");
        assert_eq!(response.header("link").unwrap(), walk.with_ids(&first));
    }
    let message = "type must be user_wallet, peer_wallet or manager_wallet";
    let path = replace_part(transactions, "type=peer_wallet&", "type=reserve");
    walk.assert_refused("GET", &path, None, 400, message);
}

//! Every list: its items, their order, its pages and its links.

use super::creation::{BIRTHDAY, CORPORATION, EXAMPLE, GREAT_JOB, PLAIN};
use super::points::{ANN_TO_BOB, BOB_TO_ANN, COMPANY_TO_ANN, COMPANY_TO_BOB};
use super::{Walk, replace_part};
use crate::support::company_body;

pub fn check_lists(walk: &mut Walk<'_>) {
    let other_provider = walk.service.create_provider("Stranger", true);
    let response = walk.service.post(&other_provider, "/v1/companies", &company_body("stranger.example.net"));
    assert_eq!(response.status, 201, "{}", response.body);

    let (example, plain) = (listed_company(EXAMPLE), listed_company(PLAIN));
    assert_single_page(walk, "/v1/companies", &[&example, &plain]);
    assert_single_page(walk, "/v1/companies?corporation_id=@1", &[&example]);
    assert_single_page(walk, "/v1/corporations", &[CORPORATION]);
    assert_single_page(walk, "/v1/corporations/@1/companies", &[&example]);
    assert_single_page(walk, "/v1/companies/@2/occasions", &[GREAT_JOB, BIRTHDAY]);
    assert_single_page(walk, "/v1/companies/@8/occasions", &[BIRTHDAY]);
    assert_single_page(walk, "/v1/users/@3/recognitions_received", &[]);
    assert_single_page(walk, "/v1/users/@3/recognitions_sent", &[]);
    assert_single_page(walk, "/v1/users/@4/recognitions_received", &[BOB_TO_ANN, COMPANY_TO_ANN]);
    assert_single_page(walk, "/v1/users/@4/recognitions_sent", &[ANN_TO_BOB]);
    assert_single_page(walk, "/v1/users/@5/recognitions_received", &[COMPANY_TO_BOB, ANN_TO_BOB]);
    assert_single_page(walk, "/v1/users/@5/recognitions_sent", &[BOB_TO_ANN]);

    assert_two_pages(walk, "/v1/companies", &[&example, &plain]);
    assert_two_pages(walk, "/v1/companies/@2/occasions", &[GREAT_JOB, BIRTHDAY]);
    assert_two_pages(walk, "/v1/users/@4/recognitions_received", &[BOB_TO_ANN, COMPANY_TO_ANN]);
    assert_two_pages(walk, "/v1/users/@5/recognitions_received", &[COMPANY_TO_BOB, ANN_TO_BOB]);
    check_lists_without_total(walk);
}

/// A company as it appears in a list.
pub fn listed_company(company: &str) -> String {
    let (start, rest) = company.split_once(r#""reserve_alert""#).unwrap();
    let (_, end) = rest.split_once(r#""created_at""#).unwrap();
    format!(r#"{start}"created_at"{end}"#)
}

/// One page of a list.
pub fn page_body(number: u32, per_page: u32, total: usize, results: &[&str]) -> String {
    format!(
        r#"{{"page":{number},"per_page":{per_page},"total_count":{total},"result_count":{},"results":[{}]}}"#,
        results.len(),
        results.join(",")
    )
}

/// Checks a list that fits on its first page: the default page, the largest page, and a page past the end.
pub fn assert_single_page(walk: &mut Walk<'_>, path: &str, results: &[&str]) {
    let total = results.len();
    let link = |page: u32, per_page: u32, relation: &str| {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("<{path}{separator}page={page}&per_page={per_page}>; rel=\"{relation}\"")
    };
    let separator = if path.contains('?') { '&' } else { '?' };
    let mut check = |query: &str, expected: String, links: String| {
        let path = if query.is_empty() { path.to_owned() } else { format!("{path}{separator}{query}") };
        let response = walk.get(&path, &expected);
        assert_eq!(response.header("link").unwrap(), walk.with_ids(&links), "{path}");
    };
    let only = |per_page| format!("{}, {}", link(1, per_page, "first"), link(1, per_page, "last"));
    check("", page_body(1, 100, total, results), only(100));
    let per_page_max = if path.contains("/recognitions_") { 100 } else { 1000 };
    check("other=1&per_page=1000", page_body(1, per_page_max, total, results), only(per_page_max));
    check("per_page=1001", page_body(1, per_page_max, total, results), only(per_page_max));
    let links = [link(1, 100, "first"), link(8, 100, "prev"), link(1, 100, "last")];
    check("page=9", page_body(9, 100, total, &[]), links.join(", "));
    walk.assert_refused(
        "GET",
        &format!("{path}{separator}page=0"),
        None,
        400,
        "page must be an integer from 1",
    );
}

/// Checks a list of two items with one item per page.
fn assert_two_pages(walk: &mut Walk<'_>, path: &str, results: &[&str; 2]) {
    let link = |page: u32, relation: &str| format!("<{path}?page={page}&per_page=1>; rel=\"{relation}\"");
    let mut check = |number: u32, links: &[String]| {
        let at = usize::try_from(number).unwrap() - 1;
        let expected = page_body(number, 1, 2, &[results[at]]);
        let response = walk.get(&format!("{path}?page={number}&per_page=1"), &expected);
        assert_eq!(response.header("link").unwrap(), walk.with_ids(&links.join(", ")), "{path}");
    };
    check(1, &[link(1, "first"), link(2, "next"), link(2, "last")]);
    check(2, &[link(1, "first"), link(1, "prev"), link(2, "last")]);
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
            assert_eq!(response.json()[items], serde_json::Value::from(expected), "{path} {number}");
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

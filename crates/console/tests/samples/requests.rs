//! Sample models of the page of failed requests.

use guerdon_console::model::{FailedRequest, FailedRequests, LogPage};
use guerdon_console::{Frame, Query, pages};
use time::Duration;

use super::{HOSTILE_NAME, NOW, sample_id, sample_reference};

const FAILURES: [(u16, &str, Option<&str>, &str); 4] = [
    (404, "GET", Some("/v1/users/:id"), "user not found"),
    (503, "POST", Some("/v1/recognitions"), "the service is temporarily unavailable: the database is busy"),
    (401, "GET", None, "the API credentials are missing or invalid"),
    (
        400,
        "PUT",
        Some("/v1/companies/:id"),
        "points_per_dollar must be an integer from 1 to 10000; logo_url is required",
    ),
];

fn failed_request(number: u32) -> FailedRequest {
    let index = usize::try_from(number).unwrap_or(0);
    let (status, method, route, reason) = FAILURES.into_iter().cycle().nth(index).unwrap_or(FAILURES[0]);
    let provider = if number == 4 { HOSTILE_NAME } else { "Acme Rewards" };
    FailedRequest {
        request_id: if number == 3 { "x".repeat(128) } else { sample_id(7_000 + number) },
        at: NOW - Duration::seconds(i64::from(number) * 37),
        provider: (status != 401).then(|| sample_reference(1, provider)),
        method: method.to_owned(),
        route: route.map(str::to_owned),
        status,
        duration_ms: number.into(),
        reason: reason.to_owned(),
    }
}

/// The names of the pages, and the pages.
pub fn render_pages(frame: &Frame) -> [(&'static str, String); 2] {
    let render =
        |count, query| pages::requests::render_page(&request_list(count), &Query::parse(query), frame);
    [
        ("requests", render(50, "status=404&provider=1")),
        ("requests_empty", render(0, "request_id=%22%3E%3Cb%3E")),
    ]
}

fn request_list(count: u32) -> FailedRequests {
    let cursor = |text: &str| (count > 0).then(|| text.to_owned());
    FailedRequests {
        list: LogPage {
            rows: (0..count).map(failed_request).collect(),
            newer: cursor("newer&1"),
            older: cursor("older=1"),
        },
        providers: vec![sample_reference(1, "Acme Rewards"), sample_reference(2, HOSTILE_NAME)],
    }
}

//! The table of failed requests, newest first.

use maud::{Markup, html};

use crate::components::{self, Tone};
use crate::forms;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{FailedRequest, FailedRequests};
use crate::numbers;
use crate::query::Query;
use crate::time_format;

/// The statuses that can be selected.
const STATUSES: [&str; 11] = ["5xx", "4xx", "400", "401", "403", "404", "405", "410", "429", "500", "503"];
const PARAMETERS: [&str; 3] = ["status", "provider", "request_id"];

/// The filter of failed requests: `?provider=ID&status=5xx&request_id=ID`. Nothing is validated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    pub provider: Option<String>,
    /// A status, or a class such as `4xx`.
    pub status: Option<String>,
    pub request_id: Option<String>,
}

impl RequestFilter {
    pub fn from_query(query: &Query) -> Self {
        let parameter = |name| query.get(name).map(str::to_owned);
        Self {
            provider: parameter("provider"),
            status: parameter("status"),
            request_id: parameter("request_id"),
        }
    }
}

/// Renders a section of the failed requests.
pub fn render_page(requests: &FailedRequests, query: &Query, frame: &Frame) -> String {
    let path = Section::Requests.path();
    let filter = RequestFilter::from_query(query);
    let providers: Vec<(&str, &str)> =
        requests.providers.iter().map(|provider| (provider.id.as_str(), provider.name.as_str())).collect();
    let fields = html! {
        (forms::select_field("Status", "status", &STATUSES.map(|status| (status, status)), query))
        (forms::select_field("Provider", "provider", &providers, query))
        (forms::text_field("Request id", "request_id", query))
    };
    let main = html! {
        h1 { "Failed requests" }
        (forms::filter_form(path, query, &PARAMETERS, &fields))
        @if !requests.list.rows.is_empty() {
            (request_table(&requests.list.rows))
        } @else if filter.request_id.is_some() {
            (components::empty_message(
                "No failed request with this id is stored. Requests that succeed are not recorded, and of each provider \
                 only the last 1,000 with 4xx and the last 1,000 with 5xx are kept.",
            ))
        } @else if filter != RequestFilter::default() {
            (components::empty_message("No failed request matches the filter."))
        } @else {
            (components::empty_message("No request has failed."))
        }
        (components::cursor_links(&requests.list, query, path))
        (components::command_list(&[("List these on the command line", list_command(&filter))]))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Requests), "Failed requests", &main)
}

fn request_table(all: &[FailedRequest]) -> Markup {
    let rows = html! {
        @for request in all {
            tr {
                th scope="row" { (time_format::render_timestamp(request.at)) }
                td { (status_badge(request.status)) }
                td { (request.method) " " @if let Some(route) = &request.route { code { (route) } } @else { span.soft { "unknown path" } } }
                td.name {
                    @if let Some(provider) = &request.provider { (components::provider_link(provider)) }
                    @else { span.soft { "–" } }
                }
                td.number { (format_duration(request.duration_ms)) }
                td.wrap { (request.reason) br; code.soft { (request.request_id) } }
            }
        }
    };
    let head = components::column_headings(&[
        "At",
        "Status",
        "Request",
        "Provider",
        "Duration#",
        "Reason and request id",
    ]);
    components::scrollable_table("Failed requests, newest first", &head, &rows)
}

fn format_duration(millis: u64) -> String {
    if millis == 0 {
        return "< 1 ms".to_owned();
    }
    numbers::format_micros(i64::try_from(millis.saturating_mul(1_000)).unwrap_or(i64::MAX))
}

fn status_badge(status: u16) -> Markup {
    components::badge(if status >= 500 { Tone::Bad } else { Tone::Plain }, &status.to_string())
}

/// Returns the command that lists the same requests.
fn list_command(filter: &RequestFilter) -> String {
    let options = [
        ("--status", &filter.status),
        ("--provider", &filter.provider),
        ("--request-id", &filter.request_id),
    ];
    let mut command = "guerdon request list".to_owned();
    for (option, value) in options {
        if let Some(value) = value.as_deref().filter(|value| is_plain_word(value)) {
            command.push_str(&format!(" {option} {value}"));
        }
    }
    command
}

/// Whether a word may be copied into a shell. A query may contain anything.
fn is_plain_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphanumeric())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_of_less_than_a_millisecond_is_not_zero() {
        let check = |millis, expected: &str| assert_eq!(format_duration(millis), expected);
        check(0, "< 1 ms");
        check(1_500, "1.5 s");
        check(u64::MAX, &numbers::format_micros(i64::MAX));
    }

    #[test]
    fn the_command_copies_only_plain_filters() {
        let check = |query: &str, expected: &str| {
            assert_eq!(list_command(&RequestFilter::from_query(&Query::parse(query))), expected, "{query}");
        };
        check("", "guerdon request list");
        check("status=5xx&provider=01a1", "guerdon request list --status 5xx --provider 01a1");
        check("request_id=a-B_9.z", "guerdon request list --request-id a-B_9.z");
        check("request_id=%24%28reboot%29&status=-x", "guerdon request list");
    }
}

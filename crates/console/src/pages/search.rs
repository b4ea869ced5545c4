//! The results of a search over all objects.

use maud::{Markup, html};

use crate::components;
use crate::frame::{self, Frame, PagePosition};
use crate::model::{FoundObject, SearchOutcome, SearchResult};

/// Renders the results.
pub fn render_page(result: &SearchResult, frame: &Frame) -> String {
    let main = html! {
        h1 { "Search" }
        @if let Some(text) = &result.text { p.subtitle { "for “" (text) "”" } }
        (render_outcome(&result.outcome))
        p.soft {
            "Finds companies by domain or by a part of the name, users by email address, providers by name, and users, companies, providers, "
            "events, recognitions and failed requests by id. An email address is neither stored nor part of a URL."
        }
    };
    frame::render_frame(frame, PagePosition::Outside, "Search", &main)
}

fn render_outcome(outcome: &SearchOutcome) -> Markup {
    match outcome {
        SearchOutcome::NoQuery => components::empty_message("Enter a search term in the field at the top."),
        SearchOutcome::AddressInUrl => components::empty_message(
            "An email address in a URL is not searched for, because browsers and proxies store it. Enter it in the field at the top.",
        ),
        SearchOutcome::Found(all) if all.is_empty() => {
            components::empty_message("Nothing has this id, domain, name or address.")
        }
        SearchOutcome::Found(all) => found_table(all),
    }
}

fn found_table(all: &[FoundObject]) -> Markup {
    let rows = html! {
        @for found in all {
            tr {
                td { (found.kind.name()) }
                th.name scope="row" { a href=(found.path) { (found.name) } }
                td.wrap { (found.detail) }
            }
        }
    };
    html! {
        (components::scrollable_table("Results", &components::column_headings(&["What", "Name or id", "Detail"]), &rows))
        @if all.len() >= SearchResult::OBJECTS_MAX { p { "There may be more: search for a longer part of the name." } }
    }
}

//! The page for unknown addresses.

use maud::html;

use crate::frame::{self, At, Frame};

/// Renders the body of a 404 response, for an unknown path and for an unknown id.
pub fn page(frame: &Frame) -> String {
    let main = html! {
        h1 { "Not found" }
        p { "There is no such page, or nothing has the id in its address." }
        p { "What was looked for may be in the lists of " a href="/companies" { "companies" } ", "
            a href="/providers" { "providers" } " or " a href="/events" { "events" } "." }
    };
    frame::page(frame, At::Nowhere, "Not found", &main)
}

//! The page for unknown addresses.

use maud::html;

use crate::frame::{self, Frame, PagePosition};

/// Renders the body of a 404 response, for an unknown path and for an unknown id.
pub fn render_page(frame: &Frame) -> String {
    let main = html! {
        h1 { "Not found" }
        p { "This page does not exist, or no object has the id in its address." }
        p { "You may find the object in the lists of " a href="/companies" { "companies" } ", "
            a href="/providers" { "providers" } " or " a href="/events" { "events" } "." }
    };
    frame::render_frame(frame, PagePosition::Outside, "Not found", &main)
}

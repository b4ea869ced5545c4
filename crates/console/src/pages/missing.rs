//! What is shown where nothing is.

use maud::html;

use crate::frame::{self, At, Frame};

/// To be answered with 404: for an unknown address, and for an id that nothing has.
pub fn page(frame: &Frame) -> String {
    let main = html! {
        h1 { "Not found" }
        p { "There is no such page, or nothing has the id in its address." }
        p { "What was looked for may be in the lists of " a href="/companies" { "companies" } ", "
            a href="/providers" { "providers" } " or " a href="/events" { "events" } "." }
    };
    frame::page(frame, At::Nowhere, "Not found", &main)
}

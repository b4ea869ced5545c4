//! The page for when data cannot be read.

use maud::html;

use crate::components;
use crate::frame::{self, Frame, PagePosition};

/// Renders the body of a 503 response: the database is unavailable.
pub fn render_page(frame: &Frame) -> String {
    let main = html! {
        h1 { "The database is not available" }
        p { "Nothing can be shown. API requests get a 503 until it is available again. Nothing is lost: acknowledged changes are stored, and events are sent afterwards." }
        p { "Check the database first, then the log of " code { "serve" } ". Then reload this page." }
        (components::command_list(&[("Check whether the service is ready", "guerdon healthcheck".to_owned())]))
    };
    frame::render_frame(frame, PagePosition::Outside, "The database is not available", &main)
}

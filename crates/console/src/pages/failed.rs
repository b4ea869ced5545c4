//! The page for when data cannot be read.

use maud::html;

use crate::frame::{self, At, Frame};
use crate::parts;

/// Renders the body of a 503 response: the database is unavailable.
pub fn page(frame: &Frame) -> String {
    let main = html! {
        h1 { "The database does not answer" }
        p { "So nothing can be shown. Requests to the API are answered 503 for as long, and lose nothing: what was \
             acknowledged is kept, and events are sent once it is back." }
        p { "Look at the database first, then at the log of " code { "serve" } ". Then read this page again." }
        (parts::commands(&[("Ask the service whether it is ready", "guerdon healthcheck".to_owned())]))
    };
    frame::page(frame, At::Nowhere, "The database does not answer", &main)
}

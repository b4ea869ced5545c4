#![doc = include_str!("../README.md")]

mod alerts;
mod components;
mod diagnostics;
mod event_body;
mod forms;
mod frame;
mod listing;
pub mod model;
pub mod numbers;
pub mod pages;
mod plot;
mod query;
mod time_format;

pub use diagnostics::diagnose_attempt;
pub use frame::{Frame, SEARCH_PATH};
pub use listing::{Column, Listing, LogPosition, ROWS_PER_PAGE};
pub use query::Query;

/// The path of the style sheet.
pub const STYLE_PATH: &str = "/console.css";
/// The style sheet.
pub const STYLE: &str = include_str!("console.css");
/// Pages may load only the style sheet, and forms may be sent only to the console itself.
pub const CONTENT_SECURITY_POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

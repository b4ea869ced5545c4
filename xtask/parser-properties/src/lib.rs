//! What must hold for every input of every parser. `cargo xtask campaign fuzz` searches for inputs that break a
//! property, and the test of this crate checks the inputs in `xtask/fuzz/corpus`.
//!
//! A parser never panics and needs less than [`TIME_MAX`] of processor time. If an accepted value has a string form,
//! the parser reads that form as the same value. A property that does not hold panics.

mod bodies;
mod headers;
mod operator;
mod values;
mod webhooks;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The most processor time that a parser may need for an input.
pub const TIME_MAX: Duration = Duration::from_millis(100);

/// A group of parsers of the same kind of input.
#[derive(Clone, Copy)]
pub struct Parser {
    /// The name of the parser and of its corpus.
    pub name: &'static str,
    check: fn(&[u8]),
}

/// All parsers.
pub const PARSERS: &[Parser] = &[
    Parser::new("email", values::check_email),
    Parser::new("domain", values::check_domain),
    Parser::new("url", values::check_url),
    Parser::new("text", values::check_text),
    Parser::new("time", values::check_time),
    Parser::new("money", values::check_money),
    Parser::new("ids", values::check_ids),
    Parser::new("certificate", values::check_certificate),
    Parser::new("body", bodies::check_body),
    Parser::new("import", bodies::check_import),
    Parser::new("requests", headers::check_requests),
    Parser::new("query", headers::check_query),
    Parser::new("accept", headers::check_accept),
    Parser::new("authorization", headers::check_authorization),
    Parser::new("idempotency-key", headers::check_idempotency_key),
    Parser::new("forwarded-for", headers::check_forwarded_for),
    Parser::new("signature", webhooks::check_signature),
    Parser::new("event", webhooks::check_event),
    Parser::new("callback-url", webhooks::check_callback),
    Parser::new("saml-metadata", operator::check_saml_metadata),
    Parser::new("settings", operator::check_settings),
    Parser::new("server-urls", operator::check_server_urls),
    Parser::new("arguments", operator::check_arguments),
    Parser::new("archive-row", operator::check_archive_row),
];

impl Parser {
    /// Creates a parser. `check` panics if a property does not hold for its input.
    pub const fn new(name: &'static str, check: fn(&[u8])) -> Self {
        Self { name, check }
    }

    /// Returns the parser with this name.
    pub fn find(name: &str) -> Option<Self> {
        PARSERS.iter().find(|parser| parser.name == name).copied()
    }

    /// Panics if a property does not hold for an input, or if the check needs too much processor time.
    pub fn check(&self, input: &[u8]) {
        let start = processor_time();
        (self.check)(input);
        let needed = processor_time().saturating_sub(start);
        assert!(needed < TIME_MAX, "{}: {needed:?} for {} bytes", self.name, input.len());
    }
}

/// Returns the processor time of this thread so far.
pub fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Calls `check` if the input is UTF-8.
fn with_text(input: &[u8], check: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(input) {
        check(text);
    }
}

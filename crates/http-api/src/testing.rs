//! The parsers of this crate, for fuzzing.

use std::net::IpAddr;

pub use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use guerdon_domain::values::Page;
use ipnet::IpNet;
use schemars::SchemaGenerator;

use crate::endpoints::{ROUTES, read_cursor};
use crate::operation::{ApiError, Query, read_key_header};
use crate::request_info::forwarded_address;

pub use crate::middleware::testing::{
    accepts_problems, head_accepts_problems, parse_authorization, read_requests,
};

/// A function that returns whether an operation accepts a body.
pub type BodyReader = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Returns a reader for each operation with a body.
pub fn body_readers() -> Vec<BodyReader> {
    let mut generator = SchemaGenerator::default();
    let bodies = ROUTES.iter().filter_map(|route| (route.describe)(&mut generator).body);
    let to_reader = |check_body: fn(&[u8]) -> Result<(), ApiError>| -> BodyReader {
        Box::new(move |body| check_body(body).is_ok())
    };
    bodies.map(|body| to_reader(body.check_body)).collect()
}

/// Parses the query of a list. Returns the number of the page and the number of items per page.
pub fn parse_page(query: &str, per_page_max: i64) -> Option<(i64, i64)> {
    let page: Page = Query::parse_with(query, |query| query.read_page(per_page_max)).ok()?;
    Some((page.number(), page.per_page()))
}

/// Parses a query. Encodes the first parameter of each of these names, each followed by an ampersand.
pub fn encode_query_again(query: &str, names: &[&str]) -> Option<String> {
    Query::parse_with(query, |query| Some(query.encode_parameters(names))).ok()
}

/// Reads the cursor of a feed's query; `None` if the query has none or is not valid.
pub fn read_feed_cursor(query: &str) -> Option<String> {
    read_cursor(query)
}

/// Reads the idempotency key of a request; `None` if the header is absent, repeated or malformed.
pub fn read_idempotency_key(headers: &HeaderMap) -> Option<String> {
    read_key_header(headers).ok().flatten()
}

/// Returns the client's address, as a trusted proxy reports it in `X-Forwarded-For`.
pub fn read_forwarded_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    forwarded_address(peer, headers, trusted)
}

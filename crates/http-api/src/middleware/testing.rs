//! The parsers of the middleware, for fuzzing.

use actix_web::http::header::HeaderMap;

use super::admission::basic_auth::parse_basic;
use super::framing::pieces::read_pieces;
use super::problem_details::{head_wants_problems, wants_problems};

/// Reads requests that arrive in pieces. Returns the number of accepted heads, the accepted bytes, and whether the
/// bytes after them are refused.
pub fn read_requests(pieces: &[&[u8]]) -> (usize, Vec<u8>, bool) {
    let (heads, accepted, error) = read_pieces(pieces);
    (heads, accepted, error.is_some())
}

/// Parses the value of `Authorization`. Returns the API key and the API secret.
pub fn parse_authorization(value: &[u8]) -> Option<(String, String)> {
    let credentials = parse_basic(value)?;
    Some((credentials.key, credentials.secret.to_string()))
}

/// Returns whether a request gets problem details, according to its parsed headers.
pub fn accepts_problems(headers: &HeaderMap) -> bool {
    wants_problems(headers)
}

/// Returns whether a malformed request gets problem details, according to the bytes of its head.
pub fn head_accepts_problems(head: &[u8]) -> bool {
    head_wants_problems(head)
}

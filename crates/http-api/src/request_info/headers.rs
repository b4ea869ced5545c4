//! Headers that may be sent at most once.

use actix_web::http::header::HeaderMap;

/// The value of a header that may be sent only once; `Err` if it was sent more than once.
pub(crate) fn single_header<'a>(
    headers: &'a HeaderMap,
    name: &str,
) -> Result<Option<&'a [u8]>, RepeatedHeader> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (first, None) => Ok(first.map(|value| value.as_bytes())),
        (_, Some(_)) => Err(RepeatedHeader),
    }
}

/// A header was sent more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RepeatedHeader;

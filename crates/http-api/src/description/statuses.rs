//! The error statuses of the API and their meaning (behaviour 5.2), and the headers of responses.

use serde_json::{Value, json};

use super::error_examples::list_examples;

/// A status of an error response.
pub(super) struct ErrorStatus {
    pub(super) code: u16,
    /// The name of the component that describes the response.
    pub(super) name: &'static str,
    meaning: &'static str,
}

pub(super) const ERROR_STATUSES: &[ErrorStatus] = &[
    ErrorStatus {
        code: 400,
        name: "BadRequest",
        meaning: "The request is invalid: the message names each invalid field and its rule. Do not retry it unchanged.",
    },
    ErrorStatus { code: 401, name: "Unauthorized", meaning: "The API credentials are missing or invalid." },
    ErrorStatus {
        code: 403,
        name: "Forbidden",
        meaning: "The request names an object of another provider, requires a permission that you lack, or was not sent over HTTPS.",
    },
    ErrorStatus { code: 404, name: "NotFound", meaning: "The request names an object that does not exist." },
    ErrorStatus { code: 410, name: "Gone", meaning: "This version of the API is no longer served." },
    ErrorStatus {
        code: 429,
        name: "TooManyRequests",
        meaning: "A rate limit was exceeded; the message names it. The request was not processed: retry it after `Retry-After` seconds.",
    },
    ErrorStatus {
        code: 500,
        name: "InternalServerError",
        meaning: "The service failed. Retry a POST only with its `Idempotency-Key`.",
    },
    ErrorStatus {
        code: 503,
        name: "ServiceUnavailable",
        meaning: "The service is in maintenance or overloaded, or its database is unavailable. Retry later; retry a POST only with its `Idempotency-Key`.",
    },
];

impl ErrorStatus {
    /// Whether the errors with this status depend on the operation. The others are the same for every operation.
    pub(super) fn depends_on_operation(&self) -> bool {
        matches!(self.code, 400 | 403 | 404)
    }

    /// The headers of the response in addition to those of every response.
    fn own_headers(&self) -> &'static [&'static str] {
        match self.code {
            401 => &["WWW-Authenticate"],
            429 | 503 => &["Retry-After"],
            _ => &[],
        }
    }
}

/// The error responses that every operation has, as components.
pub(super) fn response_components() -> Value {
    let components = ERROR_STATUSES
        .iter()
        .filter(|status| !status.depends_on_operation())
        .map(|status| (status.name.to_owned(), error_response(status, list_examples(status.code))));
    Value::Object(components.collect())
}

/// An error response. It lists only the media type of the default format, because client generators produce a type
/// without fields for an error with two formats. [`ERROR_FORMATS`](super::ERROR_FORMATS) describes the other format.
pub(super) fn error_response(status: &ErrorStatus, examples: Value) -> Value {
    json!({
        "description": status.meaning,
        "headers": header_references(status.own_headers()),
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Error"},
            "examples": examples,
        }},
    })
}

/// References to the headers of a response: those of every response, and `own`, those of this one.
pub(super) fn header_references(own: &[&str]) -> Value {
    let names = HEADERS.iter().map(|(name, ..)| *name);
    let named = names.filter(|name| COMMON_HEADERS.contains(name) || own.contains(name));
    Value::Object(
        named
            .map(|name| (name.to_owned(), json!({"$ref": format!("#/components/headers/{name}")})))
            .collect(),
    )
}

/// The headers that do not depend on the operation.
const COMMON_HEADERS: &[&str] = &["X-Request-Id", "RateLimit", "RateLimit-Policy", "Deprecation", "Sunset"];

const HEADERS: &[(&str, &str, &str)] = &[
    (
        "X-Request-Id",
        "The request's id: the one that you sent, or a generated one. Quote it when you report a problem to the operator.",
        "checkout-4711",
    ),
    (
        "RateLimit",
        "The provider's remaining requests (`r`), and the seconds until the limit is fully restored (`t`).",
        "\"provider\";r=399;t=1",
    ),
    (
        "RateLimit-Policy",
        "The provider's burst of requests (`q`), and the seconds in which it is restored (`w`).",
        "\"provider\";q=400;w=2",
    ),
    ("Deprecation", "When this version was deprecated, if it is (RFC 9745).", "@0"),
    (
        "Sunset",
        "When this version may be removed, if a date is set (RFC 8594).",
        "Wed, 30 Jun 2027 00:00:00 GMT",
    ),
    ("Retry-After", "Seconds to wait before a retry.", "1"),
    ("WWW-Authenticate", "The required authentication scheme.", "Basic realm=\"guerdon\", charset=\"UTF-8\""),
    (
        "Link",
        "Links to the other pages, if they exist: `first`, `prev`, `next` and `last` (RFC 8288).",
        "</v1/users/019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22/transactions?type=peer_wallet&page=2&per_page=100>; rel=\"next\"",
    ),
    (
        "X-Ignored-Fields",
        "Unknown fields of the body, which were ignored. Names with characters other than letters, digits, `_`, `.` and `-` are left out.",
        "departement",
    ),
    (
        "Idempotency-Replayed",
        "`true` if this is the stored response of an earlier request with the same key.",
        "true",
    ),
];

/// The headers as components.
pub(super) fn header_components() -> Value {
    let components = HEADERS.iter().map(|(name, meaning, example)| {
        let (schema, example) = match example.parse::<u64>() {
            Ok(number) => (json!({"type": "integer", "minimum": 1}), json!(number)),
            Err(_text) => (json!({"type": "string"}), json!(example)),
        };
        ((*name).to_owned(), json!({"description": meaning, "schema": schema, "example": example}))
    });
    Value::Object(components.collect())
}

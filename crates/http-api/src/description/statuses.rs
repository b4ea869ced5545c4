//! What each status means that the API answers (behaviour 5.2), and the headers that come with answers.

use serde_json::{Value, json};

/// A refusal that the API knows.
pub(super) struct Status {
    pub(super) code: u16,
    /// Its name among the components.
    pub(super) name: &'static str,
    meaning: &'static str,
    /// What it carries beside the headers of every answer.
    headers: &'static [&'static str],
}

pub(super) const REFUSALS: &[Status] = &[
    Status {
        code: 400,
        name: "BadRequest",
        meaning: "The request breaks a rule: the message names each field and what it must be. Do not repeat it as it is.",
        headers: &[],
    },
    Status {
        code: 401,
        name: "Unauthorized",
        meaning: "The API credentials are missing or invalid.",
        headers: &["WWW-Authenticate"],
    },
    Status {
        code: 403,
        name: "Forbidden",
        meaning: "The request names what belongs to another provider, needs a right that you lack, or came without HTTPS.",
        headers: &[],
    },
    Status { code: 404, name: "NotFound", meaning: "The request names what does not exist.", headers: &[] },
    Status { code: 410, name: "Gone", meaning: "This version of the API is no longer served.", headers: &[] },
    Status {
        code: 429,
        name: "TooManyRequests",
        meaning: "One request too many; the message says which limit it was. Nothing was done: repeat it after `Retry-After` seconds.",
        headers: &["Retry-After"],
    },
    Status {
        code: 500,
        name: "InternalServerError",
        meaning: "A fault of the service. Repeat a POST only with its `Idempotency-Key`.",
        headers: &[],
    },
    Status {
        code: 503,
        name: "ServiceUnavailable",
        meaning: "The service is in maintenance, has more to do than it can hold, or its database is away. Repeat later, a POST with its `Idempotency-Key`.",
        headers: &["Retry-After"],
    },
];

/// The refusals as components.
pub(super) fn responses() -> Value {
    let all = REFUSALS.iter().map(|it| {
        let response = json!({
            "description": it.meaning,
            "headers": headers(it.headers),
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Error"}},
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
            },
        });
        (it.name.to_owned(), response)
    });
    Value::Object(all.collect())
}

/// The headers of an answer: those of every one, and some of its own.
pub(super) fn headers(own: &[&str]) -> Value {
    let names = HEADERS.iter().map(|(name, ..)| *name);
    let named = names.filter(|it| ALWAYS.contains(it) || own.contains(it));
    Value::Object(
        named.map(|it| (it.to_owned(), json!({"$ref": format!("#/components/headers/{it}")}))).collect(),
    )
}

/// On every answer, or on every one that a condition is met for that has nothing to do with the operation.
const ALWAYS: &[&str] = &["X-Request-Id", "RateLimit", "RateLimit-Policy", "Deprecation", "Sunset"];

const HEADERS: &[(&str, &str, &str)] = &[
    (
        "X-Request-Id",
        "The request's id: the one that was sent, or a new one. The operator finds the request by it.",
        "checkout-4711",
    ),
    (
        "RateLimit",
        "What is left of the provider's limit (`r`), and in how many seconds all is there again (`t`).",
        "\"provider\";r=399;t=1",
    ),
    (
        "RateLimit-Policy",
        "How many requests may come at once (`q`), and the seconds in which so many are earned again (`w`).",
        "\"provider\";q=400;w=2",
    ),
    ("Deprecation", "Since when this version is deprecated, where it is (RFC 9745).", "@0"),
    (
        "Sunset",
        "The day on which this version may end, where that is settled (RFC 8594).",
        "Wed, 30 Jun 2027 00:00:00 GMT",
    ),
    ("Retry-After", "Seconds to wait before the request is repeated.", "1"),
    ("WWW-Authenticate", "The scheme that is asked for.", "Basic realm=\"guerdon\", charset=\"UTF-8\""),
    (
        "Link",
        "Where the other pages are, as far as there are such: `first`, `prev`, `next` and `last` (RFC 8288).",
        "</v1/users/019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22/transactions?type=peer_wallet&page=2&per_page=100>; rel=\"next\"",
    ),
    (
        "X-Ignored-Fields",
        "Fields of the body that are not known and were ignored, as far as their names are plain.",
        "departement",
    ),
    (
        "Idempotency-Replayed",
        "`true` where the answer is the kept one of an earlier request with this key.",
        "true",
    ),
];

/// The headers as components.
pub(super) fn header_components() -> Value {
    let all = HEADERS.iter().map(|(name, meaning, example)| {
        let (form, example) = match example.parse::<u64>() {
            Ok(number) => (json!({"type": "integer", "minimum": 1}), json!(number)),
            Err(_text) => (json!({"type": "string"}), json!(example)),
        };
        ((*name).to_owned(), json!({"description": meaning, "schema": form, "example": example}))
    });
    Value::Object(all.collect())
}

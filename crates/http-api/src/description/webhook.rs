//! The webhooks of the OpenAPI document.

use serde_json::{Map, Value, json};

use super::event_schemas::{event_schema_name, schema_reference};
use super::value_examples::compose_example;

/// An event as a provider's receiver receives it.
pub struct Webhook {
    /// For example `recognition.received`.
    pub name: &'static str,
    /// When the event is sent.
    pub summary: &'static str,
    /// The JSON Schema of its body.
    pub body: Value,
}

/// The path item object of OpenAPI. `components` must hold the schemas of events.
pub(super) fn describe_webhook(webhook: &Webhook, components: &Map<String, Value>) -> Value {
    let schema_name = event_schema_name(webhook.name);
    let schema = json!({"$ref": schema_reference(&schema_name)});
    let example = compose_example(&schema, components);
    json!({"post": {
        "operationId": operation_id(&schema_name),
        "summary": webhook.summary,
        "description": "Respond with status 200 within 15 seconds. After any other outcome, the event is sent again: \
                        up to 11 attempts within three days. Verify the signature before you parse the body: it is the \
                        HMAC-SHA256, with your shared secret as the key, of the registered callback URL, the timestamp, the \
                        nonce and the raw body, joined by line feeds. Ignore an event whose id you have already processed.",
        "tags": ["Webhooks"],
        "security": [],
        "parameters": header_parameters(),
        "requestBody": {
            "required": true,
            "content": {"application/json": {"schema": schema, "example": example}},
        },
        "responses": {"200": {"description": "The event was received."}},
    }})
}

/// `redemptionCreated` for `RedemptionCreatedEvent`, in the style of the other operations.
fn operation_id(schema_name: &str) -> String {
    let mut letters = schema_name.trim_end_matches("Event").chars();
    letters.next().map(|first| first.to_ascii_lowercase().to_string() + letters.as_str()).unwrap_or_default()
}

fn header_parameters() -> Value {
    let header = |name: &str, text: &str, form: Value, example: &str| json!({"name": name, "in": "header", "required": true, "description": text, "schema": form, "example": example});
    const ID: &str = "019a9c3e-5d74-7066-ad5f-5c4d3e2f1a66";
    json!([
        header(
            "X-Service-Signature",
            "64 lower-case hex digits.",
            json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}),
            "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
        ),
        header(
            "X-Service-Timestamp",
            "When this attempt was made.",
            json!({"type": "string", "format": "date-time"}),
            "2026-11-20T20:01:02.345Z",
        ),
        header(
            "X-Service-Nonce",
            "New for each attempt.",
            json!({"type": "string", "pattern": "^[0-9a-f]{32}$"}),
            "9f86d081884c7d659a2feaa0c55ad015",
        ),
        header(
            "X-Service-Event-Id",
            "The event's id, the same in all its attempts and replays.",
            json!({"type": "string", "format": "uuid"}),
            ID,
        ),
        header(
            "webhook-id",
            "Equal to `X-Service-Event-Id`, for Standard Webhooks libraries.",
            json!({"type": "string", "format": "uuid"}),
            ID,
        ),
        header(
            "webhook-timestamp",
            "When this attempt was made, as Unix time in seconds.",
            json!({"type": "string", "pattern": "^[0-9]+$"}),
            "1795204862",
        ),
        header(
            "webhook-signature",
            "The signature that a Standard Webhooks library computes if its secret is `whsec_` followed by the Base64 of your shared \
             secret. During the grace period of a rotation, there are two signatures, separated by a space.",
            json!({"type": "string", "pattern": "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$"}),
            "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        ),
    ])
}

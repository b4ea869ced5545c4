//! The webhooks of the OpenAPI document.

use serde_json::{Map, Value, json};

use guerdon_api_types::docs::{self, FieldDocs};
use guerdon_api_types::field_docs;

/// An event as a provider's receiver gets it.
pub struct Webhook {
    /// For example `recognition.received`.
    pub name: &'static str,
    /// When it is sent.
    pub summary: &'static str,
    /// The JSON Schema of its body.
    pub body: Value,
}

const BODY: FieldDocs = field_docs! {
    /// The version of the body's format. Example: `"1.0"`
    version,
    /// The data of the event. Example: `{}`
    data,
};

/// The fields that a recognition does not have.
const RECOGNITION_DATA: FieldDocs = field_docs! {
    /// The name of the user or company that sent it. Example: `"Ada Lovelace"`
    sender_name,
    /// The sender's email; null for a company. Example: `"ada@acme.example"`
    sender_email,
    /// The receiver's first and last name. Example: `"Grace Hopper"`
    receiver_name,
    /// The receiver's email. Example: `"grace@acme.example"`
    receiver_email,
    /// The occasion's name. Example: `"Thank you"`
    occasion_name,
    /// The message; null for a private recognition. Example: `"You made my day."`
    message,
};

const REDEMPTION_DATA: FieldDocs = field_docs! {
    /// The user who redeemed points. Example: `"019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44"`
    user_id,
    /// The user's email. Example: `"grace@acme.example"`
    user_email,
    /// The points of this redemption. Example: `20`
    points,
    /// All points ever spent from the wallet, at the current rate. Example: `40`
    cumulative_points_spent,
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    company_id,
};

/// The path item object of OpenAPI. `components` are schemas whose doc comments still hold their examples.
pub(super) fn describe_webhook(webhook: Webhook, components: &Map<String, Value>) -> Value {
    let Webhook { name, summary, mut body } = webhook;
    docs::add_docs(body.get_mut("properties"), BODY, &[]);
    if let Some(data) = body.pointer_mut("/properties/data") {
        let (docs, object) = match data.get("title").and_then(Value::as_str) {
            Some("RedemptionData") => (REDEMPTION_DATA, None),
            _ => (RECOGNITION_DATA, components.get("Recognition")),
        };
        docs::add_docs(data.get_mut("properties"), docs, object.as_slice());
    }
    docs::split_all_docs(&mut body);
    let header = |name: &str, text: &str, form: Value| json!({"name": name, "in": "header", "required": true, "description": text, "schema": form});
    json!({"post": {
        "operationId": name.replace('.', "_"),
        "summary": summary,
        "description": "Respond with status 200 within 15 seconds. After any other outcome, the event is sent again: \
                        up to 11 attempts within three days. Verify the signature before you parse the body: it is the \
                        HMAC-SHA256, with your shared secret as the key, of the registered callback URL, the timestamp, the \
                        nonce and the raw body, joined by line feeds. Ignore an event whose id you have already processed.",
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            header("X-Service-Signature", "64 lower-case hex digits.", json!({"type": "string", "pattern": "^[0-9a-f]{64}$"})),
            header("X-Service-Timestamp", "When this attempt was made.", json!({"type": "string", "format": "date-time"})),
            header("X-Service-Nonce", "New for each attempt.", json!({"type": "string", "pattern": "^[0-9a-f]{32}$"})),
            header("X-Service-Event-Id", "The event's id, the same in all its attempts and replays.", json!({"type": "string", "format": "uuid"})),
            header("webhook-id", "Equal to `X-Service-Event-Id`, for Standard Webhooks libraries.", json!({"type": "string", "format": "uuid"})),
            header("webhook-timestamp", "When this attempt was made, as Unix time in seconds.", json!({"type": "string", "pattern": "^[0-9]+$"})),
            header(
                "webhook-signature",
                "The signature of a Standard Webhooks library whose secret is `whsec_` and the Base64 of your shared secret. During the grace \
                 period of a rotation two signatures, separated by a space.",
                json!({"type": "string", "pattern": "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$"}),
            ),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "The event was received."}},
    }})
}

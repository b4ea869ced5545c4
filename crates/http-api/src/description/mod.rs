//! The description of the API as OpenAPI 3.1, made of what serves: the table of routes, what each operation reads while
//! nothing is there, and the views that it answers. Only meanings and examples are written down for it (`words`).

mod described_route;
mod statuses;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use described_route::Told;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::endpoints::{ROUTES, TAGS};

/// An event, as it reaches a provider's receiver.
pub struct Webhook {
    /// Such as `recognition.received`.
    pub name: &'static str,
    /// When it is sent.
    pub summary: &'static str,
    /// The JSON Schema of its body.
    pub body: Value,
}

/// The description; `webhooks` are the events that are sent.
pub fn openapi(webhooks: Vec<Webhook>) -> Value {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = schemars::generate::Contract::Serialize;
    }));
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.pattern).or_insert_with(|| json!({}));
        if let Value::Object(path) = path {
            let told = (route.tell)(&mut generator);
            path.insert(route.method.to_lowercase(), described_route::describe(route, told));
        }
    }
    let mut schemas = generator.take_definitions(true);
    schemas.extend(refusals());
    for (name, schema) in &mut schemas {
        if let Value::Object(schema) = schema {
            schema.remove("description"); // speaks to whoever reads the program
        }
        explain(name, schema);
    }
    let webhooks = webhooks.into_iter().map(|it| (it.name.to_owned(), described_webhook(it)));
    let webhooks = webhooks.collect::<Map<_, _>>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Guerdon provider API",
            "version": "1.0",
            "summary": "Companies, users, recognitions and the points behind them.",
            "description": INTRODUCTION,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The service that shows this description."}],
        "security": [{"basic": []}],
        "tags": TAGS.iter().map(|(name, text)| json!({"name": name, "description": text})).collect::<Vec<_>>(),
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": {"basic": {
                "type": "http",
                "scheme": "basic",
                "description": "The API key as the user name, the API secret as the password.",
            }},
            "schemas": schemas,
            "responses": statuses::responses(),
            "headers": statuses::header_components(),
            "parameters": described_route::parameter_components(),
        },
    })
}

const INTRODUCTION: &str = "Partner companies (*providers*) manage companies, users, occasions, recognitions and points over this API, \
     and receive signed events. Bodies are JSON objects in UTF-8, at most 1 MiB; unknown fields are ignored and named in \
     `X-Ignored-Fields`, or refused with `Prefer: handling=strict`. Ids are UUIDs, times are UTC with milliseconds. \
     HEAD answers as GET does, without the body. Operations marked `x-extension` are additions of this service. \
     Fields may be added to answers within a version: do not refuse what you do not know.";

/// The shapes of refusals.
fn refusals() -> Map<String, Value> {
    let statuses: Vec<u16> = statuses::REFUSALS.iter().map(|it| it.code).chain([405]).collect();
    let refusal = json!({
        "type": "object",
        "properties": {"status": {"type": "integer", "enum": statuses}, "message": {"type": "string"}},
        "required": ["status", "message"],
    });
    let error = json!({
        "type": "object",
        "properties": {"error": {"$ref": "#/components/schemas/Refusal"}},
        "required": ["error"],
    });
    let problem = json!({
        "type": "object",
        "properties": {
            "type": {"type": "string", "const": "about:blank"},
            "title": {"type": "string"},
            "status": {"type": "integer", "enum": statuses},
            "detail": {"type": "string"},
        },
        "required": ["type", "title", "status", "detail"],
    });
    let all = [("Refusal", refusal), ("Error", error), ("Problem", problem)];
    all.into_iter().map(|(name, it)| (name.to_owned(), it)).collect()
}

/// Gives each property of an object its meaning and an example.
fn explain(object: &str, schema: &mut Value) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (name, property) in properties.iter_mut() {
        explain_one(object, name, property);
    }
}

/// The same for one; an object within has a name of its own.
fn explain_one(object: &str, name: &str, property: &mut Value) {
    if let Some(title) = property.get("title").and_then(Value::as_str).map(str::to_owned) {
        explain(&title, property);
    }
    let (Some(word), Value::Object(property)) = (words::of(object, name), property) else { return };
    property.insert("description".to_owned(), json!(word.meaning));
    if !property.contains_key("$ref") && property.get("type") != Some(&json!("array")) {
        property.insert("examples".to_owned(), json!([word.example()]));
    }
}

impl words::Word {
    /// The example as a value.
    fn example(&self) -> Value {
        serde_json::from_str(self.example).unwrap_or_default()
    }
}

fn described_webhook(webhook: Webhook) -> Value {
    let Webhook { name, summary, mut body } = webhook;
    explain("Webhook", &mut body);
    let header = |name: &str, text: &str, form: Value| json!({"name": name, "in": "header", "required": true, "description": text, "schema": form});
    json!({"post": {
        "operationId": name.replace('.', "_"),
        "summary": summary,
        "description": "Answer 200, and only 200, within 15 seconds; after anything else the event is sent again, up to 11 times in three days. \
                        Check the signature over the bytes as they came: HMAC with SHA-256, keyed by your shared secret, over the callback URL as \
                        registered, the timestamp, the nonce and the raw body, joined by line feeds. Drop an event whose id you know.",
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            header("X-Service-Signature", "64 lower-case hex digits.", json!({"type": "string", "pattern": "^[0-9a-f]{64}$"})),
            header("X-Service-Timestamp", "When this attempt was made.", json!({"type": "string", "format": "date-time"})),
            header("X-Service-Nonce", "New for each attempt.", json!({"type": "string", "pattern": "^[0-9a-f]{32}$"})),
            header("X-Service-Event-Id", "The event's id, the same in all its attempts and replays.", json!({"type": "string", "format": "uuid"})),
        ],
        "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "The event has arrived."}},
    }})
}

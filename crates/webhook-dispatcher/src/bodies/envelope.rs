//! The envelope around the data of every event (behaviour 23.3).

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::RenderError;
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;

const VERSION: &str = "1.0";

#[derive(Serialize)]
struct Envelope<T> {
    r#type: &'static str,
    version: &'static str,
    data: T,
}

/// Returns the JSON Schema of the body of an event of this kind. The descriptions are the doc comments of `T`.
pub(super) fn envelope_schema<T: JsonSchema>(kind: EventKind) -> Schema {
    let data = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.meta_schema = None;
            settings.contract = Contract::Serialize;
        })
        .into_generator()
        .into_root_schema_for::<T>();
    json_schema!({
        "type": "object",
        "properties": {
            "type": {
                "type": "string",
                "const": kind.name(),
                "description": format!("The kind of event. Example: `\"{}\"`", kind.name()),
            },
            "version": {
                "type": "string",
                "const": VERSION,
                "description": format!("The version of the body's format. Example: `\"{VERSION}\"`"),
            },
            "data": data,
        },
        "required": ["type", "version", "data"],
    })
}

/// Renders an event to the bytes that are signed and sent.
pub(super) fn render_envelope<T: Serialize>(kind: EventKind, data: T) -> Result<Vec<u8>, RenderError> {
    let envelope = Envelope { r#type: kind.name(), version: VERSION, data };
    serde_json::to_vec(&envelope).map_err(|cause| RenderError(cause.to_string()))
}

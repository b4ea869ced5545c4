//! The schemas of events as components, so that generated clients have a type for each kind of event. The event feed and
//! the webhooks share them.

use guerdon_api_types::docs::{self, FieldDocs};
use guerdon_api_types::field_docs;
use guerdon_api_types::views::WEBHOOK_EVENT;
use serde_json::{Map, Value, json};

const EVENT: FieldDocs = field_docs! {
    /// The version of the body's format. Example: `"1.0"`
    version,
    /// The data of the event.
    data,
};

/// The fields of the data that a recognition of the API does not have.
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

/// Adds a component for each kind of event, for its data, and for the union of all kinds. `components` must still
/// contain the doc comments of a recognition, which also describe the fields of events with the same names. `bodies` are the
/// kinds of events, such as `redemption.created`, with the JSON Schema of the body.
pub(super) fn add_event_schemas<'a>(
    bodies: impl Iterator<Item = (&'static str, &'a Value)>,
    components: &mut Map<String, Value>,
) {
    let mut mapping = Map::new();
    for (kind, body) in bodies {
        let mut event = body.clone();
        if let Some(properties) = event.get_mut("properties").and_then(Value::as_object_mut) {
            extract_data(properties, components);
            describe_type(properties, kind);
        }
        docs::add_docs(event.get_mut("properties"), EVENT, &[]);
        let name = event_schema_name(kind);
        mapping.insert(kind.to_owned(), schema_reference(&name).into());
        components.insert(name, event);
    }
    let kinds: Vec<_> = mapping.values().map(|reference| json!({"$ref": reference})).collect();
    components.insert(
        WEBHOOK_EVENT.to_owned(),
        json!({"oneOf": kinds, "discriminator": {"propertyName": "type", "mapping": mapping}}),
    );
}

/// Returns the name of the component for a kind: `RedemptionCreatedEvent` for `redemption.created`.
pub(super) fn event_schema_name(kind: &str) -> String {
    let capitalize = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    kind.split('.').filter_map(capitalize).collect::<String>() + "Event"
}

/// Returns a reference to a component.
pub(super) fn schema_reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// Replaces the schema of the data with a reference to a component.
fn extract_data(properties: &mut Map<String, Value>, components: &mut Map<String, Value>) {
    let Some(Value::Object(mut data)) = properties.remove("data") else { return };
    let Some(Value::String(name)) = data.remove("title") else { return };
    let (docs, object) = match name.as_str() {
        "RedemptionData" => (REDEMPTION_DATA, None),
        _ => (RECOGNITION_DATA, components.get("Recognition")),
    };
    docs::add_docs(data.get_mut("properties"), docs, object.as_slice());
    properties.insert("data".to_owned(), json!({"$ref": schema_reference(&name)}));
    components.insert(name, Value::Object(data));
}

/// Describes the property that distinguishes the kinds. [`field_docs!`] cannot describe it, because its name is a
/// keyword.
fn describe_type(properties: &mut Map<String, Value>, kind: &str) {
    if let Some(Value::Object(property)) = properties.get_mut("type") {
        property.insert("description".to_owned(), "The kind of event.".into());
        property.insert("examples".to_owned(), json!([kind]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_named_after_its_kind() {
        assert_eq!(event_schema_name("recognition.received"), "RecognitionReceivedEvent");
        assert_eq!(event_schema_name("redemption.created"), "RedemptionCreatedEvent");
    }

    #[test]
    fn the_union_selects_a_component_by_the_type() {
        let body = json!({
            "type": "object",
            "properties": {
                "type": {"type": "string", "const": "redemption.created"},
                "version": {"type": "string", "const": "1.0"},
                "data": {"title": "RedemptionData", "type": "object", "properties": {"points": {"type": "integer"}}},
            },
        });
        let mut components = Map::new();
        add_event_schemas([("redemption.created", &body)].into_iter(), &mut components);
        let reference = "#/components/schemas/RedemptionCreatedEvent";
        let union = json!({
            "oneOf": [{"$ref": reference}],
            "discriminator": {"propertyName": "type", "mapping": {"redemption.created": reference}},
        });
        assert_eq!(components[WEBHOOK_EVENT], union);
        let data = &components["RedemptionCreatedEvent"]["properties"]["data"];
        assert_eq!(data["$ref"], "#/components/schemas/RedemptionData");
        let points = &components["RedemptionData"]["properties"]["points"];
        assert!(points["description"].as_str().unwrap().contains("Example: `20`"));
    }
}

//! The schemas of events as components, so that generated clients have a type for each kind of event. The event feed
//! and the webhooks share them.

use guerdon_api_types::views::WEBHOOK_EVENT;
use serde_json::{Map, Value, json};

/// Adds a component for each kind of event, for its data, and for the union of all kinds. `bodies` are the kinds of
/// events, such as `redemption.created`, with the JSON Schema of the body.
pub(super) fn add_event_schemas<'a>(
    bodies: impl Iterator<Item = (&'static str, &'a Value)>,
    components: &mut Map<String, Value>,
) {
    let mut mapping = Map::new();
    for (kind, body) in bodies {
        let mut event = body.clone();
        if let Some(properties) = event.get_mut("properties").and_then(Value::as_object_mut) {
            extract_data(properties, components);
        }
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
    let reference = json!({"$ref": schema_reference(&name), "description": "The data of the event."});
    properties.insert("data".to_owned(), reference);
    components.insert(name, Value::Object(data));
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
        assert_eq!(components["RedemptionData"]["properties"]["points"]["type"], "integer");
    }
}

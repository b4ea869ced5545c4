//! Event bodies as the crate `guerdon-webhooks` parses them.

use guerdon_domain::events::EventKind;
use guerdon_webhook_dispatcher::body_schema;
use guerdon_webhooks::{Event, EventData};
use serde_json::{Value, json};

/// The field names of bodies of this kind, in their order.
fn field_names(kind: EventKind) -> Vec<String> {
    let schema = body_schema(kind).to_value();
    serde_json::from_value(schema["properties"]["data"]["required"].clone()).unwrap()
}

/// A body of this kind with a value for each field.
fn sample_body(kind: EventKind) -> Value {
    let schema = body_schema(kind).to_value();
    let data = &schema["properties"]["data"];
    let value = |name: &str| {
        let field = &data["properties"][name];
        match (field["format"].as_str(), field["type"].as_str()) {
            (Some("uuid"), _) => json!("01a1fdd4-8a51-741c-a29d-73192bacd34c"),
            (_, Some("integer")) => json!(1),
            (_, Some("boolean")) => json!(true),
            _ => field["enum"].get(0).cloned().unwrap_or_else(|| json!("text")),
        }
    };
    let fields = field_names(kind).into_iter().map(|name| (name.clone(), value(&name)));
    let data: serde_json::Map<_, _> = fields.collect();
    json!({"type": kind.name(), "version": "1.0", "data": data})
}

#[test]
fn receivers_know_every_kind_and_field_in_its_order() {
    for kind in EventKind::ALL.iter().copied() {
        let sample = sample_body(kind);
        let data = match Event::parse(sample.to_string().as_bytes()).unwrap().data {
            EventData::RecognitionReceived(data) | EventData::RecognitionUpdated(data) => {
                serde_json::to_string(&data)
            }
            EventData::RedemptionCreated(data) => serde_json::to_string(&data),
            _ => panic!("guerdon-webhooks does not know {}", kind.name()),
        };
        let data = data.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&data).unwrap(), sample["data"], "{}", kind.name());
        let positions = field_names(kind).into_iter().map(|name| data.find(&format!("\"{name}\":")).unwrap());
        assert!(positions.is_sorted(), "{data}");
    }
}

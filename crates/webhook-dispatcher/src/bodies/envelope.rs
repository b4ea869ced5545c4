//! What is around the data of every event (behaviour 23.3).

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::Unrenderable;
use serde::Serialize;

const VERSION: &str = "1.0";

#[derive(Serialize)]
struct Envelope<T> {
    r#type: &'static str,
    version: &'static str,
    data: T,
}

/// The bytes of an event.
pub(super) fn render<T: Serialize>(kind: EventKind, data: T) -> Result<Vec<u8>, Unrenderable> {
    let envelope = Envelope { r#type: kind.name(), version: VERSION, data };
    serde_json::to_vec(&envelope).map_err(|cause| Unrenderable(cause.to_string()))
}

//! What is around the data of every event (behaviour 23.3).

use guerdon_domain::events::EventKind;
use guerdon_domain::ports::{Timestamp, Unrenderable};
use guerdon_domain::values::Milliseconds;
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

/// A moment as the API and the events show it.
pub(super) fn moment(at: Timestamp) -> String {
    Milliseconds(at).to_string()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    #[test]
    fn a_moment_has_three_digits_of_the_second_and_is_in_utc() {
        assert_eq!(super::moment(datetime!(2026-11-20 20:01:02.345678 UTC)), "2026-11-20T20:01:02.345Z");
        assert_eq!(super::moment(datetime!(2026-01-02 00:30:00 +01:00)), "2026-01-01T23:30:00.000Z");
    }
}

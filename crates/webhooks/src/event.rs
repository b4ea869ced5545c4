//! Events as types (behaviour 23.3).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// An event. Fields that the service adds later are ignored here and present in [`json`](Self::json).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The value of `type`, such as `redemption.created`.
    pub kind: String,
    /// The version of the event's format, such as `1.0`.
    pub version: String,
    pub data: EventData,
    /// The whole body.
    pub json: Value,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EventData {
    /// A recognition was sent; one event for each receiver.
    RecognitionReceived(RecognitionData),
    /// The operator changed a recognition's message or made it public or private.
    RecognitionUpdated(RecognitionData),
    /// Points were spent on a reward.
    RedemptionCreated(RedemptionData),
    /// A kind of event that this version of the crate does not know. Confirm the delivery, and read the data from
    /// [`Event::json`] if you need it.
    Unknown,
}

/// The data of an event about a recognition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecognitionData {
    /// The recognition.
    pub id: Uuid,
    pub sender_type: SenderType,
    /// The user or the company that sent it.
    pub sender_id: Uuid,
    pub sender_name: String,
    /// None if a company sent it.
    pub sender_email: Option<String>,
    pub receiver_id: Uuid,
    pub receiver_name: String,
    pub receiver_email: String,
    pub occasion_id: Uuid,
    pub occasion_name: String,
    pub points: i64,
    pub company_id: Uuid,
    /// None if the recognition is private.
    pub message: Option<String>,
    /// RFC 3339 in UTC with milliseconds.
    pub created_at: String,
    /// Whether the recognition is public.
    pub share: bool,
}

/// The data of an event about a redemption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RedemptionData {
    /// The user who spent the points.
    pub user_id: Uuid,
    pub user_email: String,
    /// The points that were spent.
    pub points: i64,
    /// All points that the user has ever spent from this wallet, including these.
    pub cumulative_points_spent: i64,
    pub company_id: Uuid,
}

/// Who sent a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SenderType {
    User,
    Company,
    #[serde(other)]
    Unknown,
}

impl Event {
    /// Reads the body of a delivery. Verify the delivery first.
    ///
    /// # Errors
    ///
    /// If the body is not a JSON object with `type` and `data`, or the data of a known kind lacks a field.
    pub fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Envelope {
            r#type: String,
            #[serde(default)]
            version: String,
            data: Value,
        }
        fn read_data<T: DeserializeOwned>(data: Value) -> Result<T, serde_json::Error> {
            serde_json::from_value(data)
        }
        let json: Value = serde_json::from_slice(body)?;
        let Envelope { r#type: kind, version, data } = Envelope::deserialize(&json)?;
        let data = match kind.as_str() {
            "recognition.received" => EventData::RecognitionReceived(read_data(data)?),
            "recognition.updated" => EventData::RecognitionUpdated(read_data(data)?),
            "redemption.created" => EventData::RedemptionCreated(read_data(data)?),
            _ => EventData::Unknown,
        };
        Ok(Self { kind, version, data, json })
    }
}

/// The names of the fields of an event's data, in the order in which the service writes them; `None` for an unknown
/// kind.
pub(crate) fn data_field_names(kind: &str) -> Option<&'static [&'static str]> {
    const RECOGNITION: &[&str] = &[
        "id",
        "sender_type",
        "sender_id",
        "sender_name",
        "sender_email",
        "receiver_id",
        "receiver_name",
        "receiver_email",
        "occasion_id",
        "occasion_name",
        "points",
        "company_id",
        "message",
        "created_at",
        "share",
    ];
    const REDEMPTION: &[&str] = &["user_id", "user_email", "points", "cumulative_points_spent", "company_id"];
    match kind {
        "recognition.received" | "recognition.updated" => Some(RECOGNITION),
        "redemption.created" => Some(REDEMPTION),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "00000000-0000-0000-0000-000000000001";

    fn recognition_body() -> Value {
        json!({"type": "recognition.received", "version": "1.0", "data": {
            "id": ID, "sender_type": "company", "sender_id": ID, "sender_name": "Acme", "sender_email": null,
            "receiver_id": ID, "receiver_name": "Ada", "receiver_email": "ada@example.com", "occasion_id": ID,
            "occasion_name": "Thanks", "points": 25, "company_id": ID, "message": null,
            "created_at": "2026-11-20T20:01:02.345Z", "share": false,
        }})
    }

    fn redemption_body() -> Value {
        json!({"type": "redemption.created", "version": "1.0", "data": {
            "user_id": ID, "user_email": "ada@example.com", "points": 20, "cumulative_points_spent": 70,
            "company_id": ID,
        }})
    }

    fn parse_event(json: &Value) -> Result<Event, serde_json::Error> {
        Event::parse(json.to_string().as_bytes())
    }

    #[test]
    fn known_kinds_are_typed() {
        let event = parse_event(&recognition_body()).unwrap();
        assert_eq!((event.kind.as_str(), event.version.as_str()), ("recognition.received", "1.0"));
        assert_eq!(event.json, recognition_body());
        let EventData::RecognitionReceived(data) = event.data else { panic!("{event:?}") };
        assert_eq!((data.sender_type, data.points, data.message), (SenderType::Company, 25, None));
        let mut updated = recognition_body();
        updated["type"] = "recognition.updated".into();
        assert!(matches!(parse_event(&updated).unwrap().data, EventData::RecognitionUpdated(_)));
        let EventData::RedemptionCreated(data) = parse_event(&redemption_body()).unwrap().data else {
            panic!()
        };
        assert_eq!(data.cumulative_points_spent, 70);
    }

    #[test]
    fn additions_of_later_versions_are_accepted() {
        let mut event = recognition_body();
        event["id"] = "new".into();
        event["data"]["sender_type"] = "team".into();
        event["data"]["added"] = json!([1]);
        let event = parse_event(&event).unwrap();
        assert_eq!(event.json["data"]["added"], json!([1]));
        let EventData::RecognitionReceived(data) = event.data else { panic!() };
        assert_eq!(data.sender_type, SenderType::Unknown);
        let event = parse_event(&json!({"type": "user.created", "data": {"id": 1}})).unwrap();
        assert_eq!((event.data, &event.json["data"]["id"]), (EventData::Unknown, &json!(1)));
    }

    #[test]
    fn bodies_without_their_fields_are_errors() {
        for body in
            ["", "[]", "{}", r#"{"type":"a"}"#, r#"{"type":"redemption.created","data":{"points":1}}"#]
        {
            assert!(Event::parse(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn field_names_are_those_of_the_types() {
        fn assert_field_names<T: Serialize>(kind: &str, data: &T) {
            let written = serde_json::to_string(data).unwrap();
            let mut rest = written.as_str();
            for name in data_field_names(kind).unwrap() {
                rest =
                    rest.split_once(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name}: {written}")).1;
            }
            let fields: serde_json::Map<String, Value> = serde_json::from_str(&written).unwrap();
            assert_eq!(fields.len(), data_field_names(kind).unwrap().len());
        }
        let EventData::RecognitionReceived(data) = parse_event(&recognition_body()).unwrap().data else {
            panic!()
        };
        assert_field_names("recognition.received", &data);
        let EventData::RedemptionCreated(data) = parse_event(&redemption_body()).unwrap().data else {
            panic!()
        };
        assert_field_names("redemption.created", &data);
    }
}

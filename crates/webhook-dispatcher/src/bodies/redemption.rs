//! `redemption.created`.

use guerdon_domain::events::{EventFacts, EventKind, RedemptionEvent};
use guerdon_domain::ports::{IdGenerator, RenderError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::envelope::render_envelope;
use super::sample_values::{sample_points, sample_receiver};

/// The data of an event about a redemption. The order of the fields is the order in the body (behaviour 23.3). The
/// doc comments of the fields are the API's description of them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedemptionData")]
pub(super) struct Data<'a> {
    /// The user who redeemed points. Example: `"019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44"`
    #[schemars(extend("format" = "uuid"))]
    user_id: String,
    /// The user's email. Example: `"grace@acme.example"`
    #[schemars(extend("format" = "email"))]
    user_email: &'a str,
    /// The points of this redemption. Example: `20`
    #[schemars(range(min = 0))]
    points: i64,
    /// All points ever spent from the wallet, at the current rate. Example: `40`
    #[schemars(range(min = 0))]
    cumulative_points_spent: i64,
    /// The company. Example: `"019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11"`
    #[schemars(extend("format" = "uuid"))]
    company_id: String,
}

impl<'a> Data<'a> {
    pub(super) fn from_event(event: &RedemptionEvent<'a>) -> Self {
        Self {
            user_id: event.user.id.to_string(),
            user_email: event.user.email.as_str(),
            points: event.points.get(),
            cumulative_points_spent: event.cumulative_points_spent.get(),
            company_id: event.user.company_id.to_string(),
        }
    }
}

/// The fields that `guerdon verify` compares with the ledger.
#[derive(Deserialize)]
struct FactFields {
    user_id: Uuid,
    points: i64,
    company_id: Uuid,
}

/// Reads the facts of the ledger from the data of an event; `None` if it cannot be parsed.
pub(super) fn parse_facts(kind: EventKind, data: &str) -> Option<EventFacts> {
    let FactFields { user_id, points, company_id } = serde_json::from_str(data).ok()?;
    Some(EventFacts { kind, object_id: user_id, company: company_id, sender: None, receiver: None, points })
}

/// Renders an event with sample data.
pub(super) fn render_example(kind: EventKind, ids: &dyn IdGenerator) -> Result<Vec<u8>, RenderError> {
    let user = sample_receiver(ids)?;
    let points = sample_points();
    let event = RedemptionEvent { user: &user, points, cumulative_points_spent: points };
    render_envelope(kind, Data::from_event(&event))
}

#[cfg(test)]
mod tests {
    use guerdon_domain::events::Event;
    use guerdon_domain::money::Points;
    use guerdon_domain::ports::EventBodies;
    use guerdon_domain::users::UserSummary;
    use guerdon_domain::values::{CompanyId, EmailAddress, SingleLine, UserId};

    use super::*;
    use crate::Bodies;

    #[test]
    fn a_redemption_shows_who_spent_how_many_points() {
        let user = UserSummary {
            id: UserId::from_uuid(Uuid::from_u128(1)),
            company_id: CompanyId::from_uuid(Uuid::from_u128(2)),
            first_name: SingleLine::parse("Ada").unwrap(),
            last_name: None,
            email: EmailAddress::parse("ada@example.com").unwrap(),
            manager: false,
            active: true,
        };
        let points = |number| Points::new(number).unwrap();
        let event = RedemptionEvent { user: &user, points: points(20), cumulative_points_spent: points(70) };
        assert_eq!(
            String::from_utf8(Bodies.render_event(&Event::RedemptionCreated(event)).unwrap()).unwrap(),
            concat!(
                r#"{"type":"redemption.created","version":"1.0","data":{"#,
                r#""user_id":"00000000-0000-0000-0000-000000000001","user_email":"ada@example.com","points":20,"#,
                r#""cumulative_points_spent":70,"company_id":"00000000-0000-0000-0000-000000000002"}}"#
            )
        );
    }
}

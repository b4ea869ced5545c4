//! `redemption.created`.

use guerdon_domain::events::RedemptionEvent;
use schemars::JsonSchema;
use serde::Serialize;

/// The data of an event about a redemption. The order of the fields is the order in the body (behaviour 23.3).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RedemptionData")]
pub(super) struct Data<'a> {
    #[schemars(extend("format" = "uuid"))]
    user_id: String,
    #[schemars(extend("format" = "email"))]
    user_email: &'a str,
    #[schemars(range(min = 0))]
    points: i64,
    #[schemars(range(min = 0))]
    cumulative_points_spent: i64,
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

#[cfg(test)]
mod tests {
    use guerdon_domain::events::Event;
    use guerdon_domain::money::Points;
    use guerdon_domain::ports::EventBodies;
    use guerdon_domain::users::Person;
    use guerdon_domain::values::{CompanyId, EmailAddress, SingleLine, UserId};
    use uuid::Uuid;

    use super::*;
    use crate::Bodies;

    #[test]
    fn a_redemption_shows_who_spent_how_many_points() {
        let user = Person {
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

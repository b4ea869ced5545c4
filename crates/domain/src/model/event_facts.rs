//! The part of an event's body that the ledger also records.

use std::fmt;

use uuid::Uuid;

use super::EventKind;

/// What an event's body says about the ledger: enough to compare a stored body with its journal entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventFacts {
    pub kind: EventKind,
    /// The recognition, or the user who redeemed.
    pub object_id: Uuid,
    pub company: Uuid,
    /// For a recognition: the user or the company that sent it.
    pub sender: Option<Uuid>,
    /// For a recognition: the receiver.
    pub receiver: Option<Uuid>,
    /// Points of the recognition or the redemption.
    pub points: i64,
}

/// One line, for renderers whose bodies contain nothing else.
impl fmt::Display for EventFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, object_id, company, sender, receiver, points } = self;
        let id = |id: &Option<Uuid>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        write!(f, "{} {object_id} {company} {} {} {points}", kind.name(), id(sender), id(receiver))
    }
}

impl EventFacts {
    /// Parses the form that `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let kind = EventKind::from_name(words.next()?)?;
        let mut id = || match words.next()? {
            "-" => Some(None),
            text => text.parse::<Uuid>().ok().map(Some),
        };
        let (object_id, company, sender, receiver) = (id()??, id()??, id()?, id()?);
        let points = words.next()?.parse().ok()?;
        words.next().is_none().then_some(Self { kind, object_id, company, sender, receiver, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_parsed_from_their_own_text_form() {
        let id = Uuid::from_u128;
        let recognition = EventFacts {
            kind: EventKind::RecognitionUpdated,
            object_id: id(1),
            company: id(2),
            sender: Some(id(3)),
            receiver: Some(id(4)),
            points: 5,
        };
        let redemption =
            EventFacts { kind: EventKind::RedemptionCreated, sender: None, receiver: None, ..recognition };
        for facts in [recognition, redemption] {
            assert_eq!(EventFacts::parse(&facts.to_string()), Some(facts));
        }
        for text in ["", "recognition.updated", "redemption.created - - - - 1", &format!("{redemption} more")]
        {
            assert_eq!(EventFacts::parse(text), None, "{text}");
        }
    }
}

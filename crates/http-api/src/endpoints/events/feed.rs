//! `GET /v1/events`: the provider's events in the order in which they were settled, from a cursor on.

use std::fmt;

use guerdon_domain::ports::{FeedPlace, FeedWanted, Reads};
use guerdon_domain::values::{EventId, Message, ProviderId};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use uuid::Uuid;

use super::view_of;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::Shown;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;
use guerdon_api_types::form::{Form, FromText};
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::EventView;

/// The most events of one answer.
const LIMIT_MAX: i64 = 100;
/// What the largest one takes as it is read and rendered: its message stands in the database's answer, in the row and in the
/// body.
const WEIGHT: usize = 4 * Message::BYTES_MAX;

pub(crate) struct List;

impl Described for List {
    const NAME: &'static str = "listEvents";
    const SUMMARY: &'static str = "List events after a cursor";
    const TEXT: &'static str = "Your events, oldest first. Pass `next` of a response as `after` of the next request, immediately or \
         later, to receive every event exactly once. With the filters `type` and \
         `state` a page may contain fewer events than `limit`, even none; continue with its \
         `next`.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Event");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The cursor: `next` of the previous response; by default the beginning. Example: `"0"`
        after,
        /// Only events of this kind. Example: `"recognition.received"`
        type,
        /// Start time if `after` is not sent; up to a minute earlier events may be included.
        /// Example: `"2026-11-20T20:01:02.345Z"`
        since,
        /// The maximum number of events, up to 100. Example: `100`
        limit,
    };
    type View = View<'static>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(|query| parameters(ProviderId::from_uuid(Uuid::nil()), query))
    }
}

impl Read for List {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let wanted = call.query(|query| parameters(call.scope, query))?;
        let feed = reads.feed(&wanted)?;
        let events = feed.events.iter().map(view_of).collect::<Result<_, _>>()?;
        Answer::ok(&View { events, next: Shown(Cursor(feed.next)) })
    }

    fn weight(call: &Call) -> usize {
        let wanted = call.query(|query| parameters(call.scope, query));
        wanted.map_or(0, |wanted| usize::try_from(wanted.limit).unwrap_or_default().saturating_mul(WEIGHT))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Events")]
pub(crate) struct View<'a> {
    /// The events, oldest first.
    events: Vec<EventView<'a>>,
    /// The cursor of the next page: pass it as `after`. Example: `"1f.019a9c3e5d747066ad5f5c4d3e2f1a66"`
    next: Shown<Cursor>,
}

/// The cursor of a client; `None` is the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor(Option<FeedPlace>);

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => formatter.write_str("0"),
            Some(place) => write!(formatter, "{:x}.{}", place.position, place.id.as_uuid().simple()),
        }
    }
}

impl Form for Cursor {
    fn form() -> Schema {
        // Its content is opaque to clients, so that it can change.
        json_schema!({"type": "string", "minLength": 1, "maxLength": 255})
    }
}

impl FromText for Cursor {
    type Fault = &'static str;
    const EXPECTED: &'static str = "a string with a cursor";

    fn from_text(text: &str) -> Result<Self, &'static str> {
        let place = || {
            let (position, id) = text.split_once('.')?;
            let position = i64::from_str_radix(position, 16).ok().filter(|position| *position >= 0)?;
            let id = EventId::from_uuid(Uuid::try_parse(id).ok()?);
            Some(Self(Some(FeedPlace { position, id })))
        };
        let read = if text == "0" { Some(Self(None)) } else { place() };
        read.filter(|cursor| cursor.to_string() == text)
            .ok_or("must be a cursor that an answer had as its next")
    }
}

fn parameters(provider: ProviderId, query: &mut Query) -> Option<FeedWanted> {
    let after = query.optional::<Cursor>("after").and_then(|cursor| cursor.0);
    let kind = query.optional("type");
    let state = query.optional("state");
    let since = query.optional("since");
    let limit = query.natural("limit", LIMIT_MAX)?.min(LIMIT_MAX);
    Some(FeedWanted { provider, after, since, kind, state, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_one_that_was_given() {
        let id = EventId::from_uuid(Uuid::from_u128(0xab));
        let place = Cursor(Some(FeedPlace { position: 0x1f, id }));
        for cursor in [Cursor(None), place] {
            assert_eq!(Cursor::from_text(&cursor.to_string()), Ok(cursor));
        }
        for wrong in
            ["", "1", "x", "1f", "-1.00000000000000000000000000000000", "1F.000000000000000000000000000000ab"]
        {
            assert!(Cursor::from_text(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameters_are_judged() {
        let provider = ProviderId::from_uuid(Uuid::nil());
        let check = |text: &str, expected: Result<i64, &str>| {
            let read = Query::read(text, |query| parameters(provider, query));
            assert_eq!(
                read.as_ref().map(|wanted| wanted.limit).map_err(|error| error.told().1),
                expected,
                "{text}"
            );
        };
        check("", Ok(100));
        check("limit=7&after=0&type=recognition.received&state=delivered", Ok(7));
        check("limit=101", Ok(100));
        check("limit=0", Err("limit must be an integer from 1"));
        check("type=x", Err("type must be recognition.received, recognition.updated or redemption.created"));
        check("state=x", Err("state must be pending, delivered, exhausted or unaddressed"));
        check("after=x", Err("after must be a cursor that an answer had as its next"));
    }
}

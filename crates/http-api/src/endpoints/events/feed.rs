//! `GET /v1/events`: the provider's events in the order of their feed positions, starting at a cursor.

use std::fmt;
use std::time::Duration;

use guerdon_api_types::values::{FromText, ValueSchema};
use guerdon_api_types::views::EventView;
use guerdon_api_types::{FieldDocs, WireValue, field_docs};
use guerdon_domain::ports::{EventWithBody, FeedPage, FeedPosition, FeedQuery, ReadTx};
use guerdon_domain::values::{EventId, Message, ProviderId};
use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use uuid::Uuid;

use super::event_view;
use crate::operation::{ApiError, OperationDocs, Query, RenderedResponse};

/// The maximum number of events of one response.
const LIMIT_MAX: i64 = 100;
/// The longest wait for an event.
const WAIT_SECONDS_MAX: i64 = 20;
/// The memory of the largest event while it is read and rendered: its message exists in the database's response, the
/// row and the body.
pub(super) const EVENT_BYTES_MAX: usize = 4 * Message::BYTES_MAX;

pub(crate) struct List;

impl OperationDocs for List {
    const NAME: &'static str = "listEvents";
    const SUMMARY: &'static str = "List events after a cursor";
    const DESCRIPTION: &'static str = "Your events, oldest first. Pass `next` of a response as `after` of the next request, immediately or \
         later, to receive every event exactly once. With the filters `type` and \
         `state` a page may contain fewer events than `limit`, even none; continue with its \
         `next`. With `wait` (long polling), a request that finds no event waits until one appears; after \
         that many seconds, it returns an empty page.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Event");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The cursor: `next` of the previous response; by default the beginning. Example: `"0"`
        after,
        /// Only events of this kind. Example: `"recognition.received"`
        type,
        /// The start time if `after` is not sent; the response may include events from the minute before it.
        /// Example: `"2026-11-20T20:01:02.345Z"`
        since,
        /// The maximum number of events. A value above 100 is reduced to 100. Example: `100`
        limit,
        /// How many seconds to wait for an event if none follows the cursor, up to 20. Example: `20`
        wait,
    };
    const READ_QUERY: fn(&mut Query) = |query| _ = read_query(ProviderId::from_uuid(Uuid::nil()), query);
    type View = View<'static>;
}

/// Reads the events of a page and renders the response.
pub(super) fn read_page(reads: &mut dyn ReadTx, page: &FeedPage) -> Result<RenderedResponse, ApiError> {
    render_page(&reads.load_feed_page(page)?, page.next)
}

/// Renders the response with these events.
pub(super) fn render_page(
    events: &[EventWithBody],
    next: Option<FeedPosition>,
) -> Result<RenderedResponse, ApiError> {
    let events = events.iter().map(event_view).collect::<Result<_, _>>()?;
    RenderedResponse::ok(&View { events, next: WireValue(Cursor(next)) })
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Events")]
pub(crate) struct View<'a> {
    /// The events, oldest first.
    events: Vec<EventView<'a>>,
    /// The cursor of the next page: pass it as `after`. Example: `"1f.019a9c3e5d747066ad5f5c4d3e2f1a66"`
    next: WireValue<Cursor>,
}

/// The cursor that a client sends; `None` is the beginning of the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor(Option<FeedPosition>);

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => formatter.write_str("0"),
            Some(after) => write!(formatter, "{:x}.{}", after.position, after.id.as_uuid().simple()),
        }
    }
}

impl ValueSchema for Cursor {
    fn value_schema() -> Schema {
        // The content is opaque to clients, so that its format can change.
        json_schema!({"type": "string", "minLength": 1, "maxLength": 255})
    }
}

impl FromText for Cursor {
    type Fault = &'static str;
    const EXPECTED: &'static str = "a string with a cursor";

    fn from_text(text: &str) -> Result<Self, &'static str> {
        let parse_position = || {
            let (position, id) = text.split_once('.')?;
            let position = i64::from_str_radix(position, 16).ok().filter(|position| *position >= 0)?;
            let id = EventId::from_uuid(Uuid::try_parse(id).ok()?);
            Some(Self(Some(FeedPosition { position, id })))
        };
        let cursor = if text == "0" { Some(Self(None)) } else { parse_position() };
        cursor
            .filter(|cursor| cursor.to_string() == text)
            .ok_or("must be 0 or the next of an earlier response")
    }
}

/// Reads the cursor of a query; `None` if the query has none or is not valid.
#[cfg(feature = "testing")]
pub(crate) fn read_cursor(query: &str) -> Option<String> {
    let cursor = Query::parse_with(query, |query| query.read_optional::<Cursor>("after")).ok();
    cursor.map(|cursor| cursor.to_string())
}

/// Reads the query: what to read, and how long to wait.
pub(super) fn read_query(provider: ProviderId, query: &mut Query) -> Option<(FeedQuery, Duration)> {
    let after = query.read_optional::<Cursor>("after").and_then(|cursor| cursor.0);
    let kind = query.read_optional("type");
    let state = query.read_optional("state");
    let since = query.read_optional("since");
    let limit = query.read_limit("limit", LIMIT_MAX, LIMIT_MAX);
    let wait = query.read_integer("wait", 0, 0..=WAIT_SECONDS_MAX, "must be an integer from 0 to 20");
    let wait = Duration::from_secs(u64::try_from(wait?).unwrap_or_default());
    Some((FeedQuery { provider, after, since, kind, state, limit: limit? }, wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cursors_that_were_returned_are_accepted() {
        let id = EventId::from_uuid(Uuid::from_u128(0xab));
        let other = Cursor(Some(FeedPosition { position: 0x1f, id }));
        for cursor in [Cursor(None), other] {
            assert_eq!(Cursor::from_text(&cursor.to_string()), Ok(cursor));
        }
        for invalid in
            ["", "1", "x", "1f", "-1.00000000000000000000000000000000", "1F.000000000000000000000000000000ab"]
        {
            assert!(Cursor::from_text(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn parameters_are_validated() {
        let provider = ProviderId::from_uuid(Uuid::nil());
        let check = |text: &str, expected: Result<i64, &str>| {
            let parsed = Query::parse_with(text, |query| read_query(provider, query));
            assert_eq!(
                parsed
                    .as_ref()
                    .map(|(feed_query, _)| feed_query.limit)
                    .map_err(|error| error.status_and_message().1),
                expected,
                "{text}"
            );
        };
        check("", Ok(100));
        check("limit=7&after=0&type=recognition.received&state=delivered", Ok(7));
        check("limit=101", Ok(100));
        check("limit=9223372036854775808", Ok(100));
        check("limit=0", Err("limit must be a positive integer"));
        check("wait=0", Ok(100));
        check("wait=20&limit=3", Ok(3));
        for wait in ["21", "-1", "", "x", "1.5"] {
            check(&format!("wait={wait}"), Err("wait must be an integer from 0 to 20"));
        }
        check(
            "limit=0&wait=21",
            Err("limit must be a positive integer; wait must be an integer from 0 to 20"),
        );
        check("type=x", Err("type must be recognition.received, recognition.updated or redemption.created"));
        check("state=x", Err("state must be pending, delivered, exhausted or unaddressed"));
        check("after=x", Err("after must be 0 or the next of an earlier response"));
    }
}

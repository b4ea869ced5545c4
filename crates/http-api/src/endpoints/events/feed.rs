//! `GET /v1/events`: the provider's events in the order in which they were settled, from a cursor on.

use std::fmt;
use std::str::FromStr;

use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{FeedPlace, FeedWanted, Reads};
use guerdon_domain::values::{EventId, Message, ProviderId};
use serde::Serialize;
use uuid::Uuid;

use super::view::EventView;
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::query::{Query, unless_faulty};
use crate::operation::wire::Shown;

/// The most events of one answer.
const LIMIT_MAX: i64 = 100;
/// What the largest one takes as it is read and rendered: its message stands in the database's answer, in the row and in the
/// body.
const WEIGHT: usize = 4 * Message::BYTES_MAX;

pub(crate) struct List;

impl Read for List {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let wanted = parameters(call.scope, &call.parameters()?)?;
        let feed = reads.feed(&wanted)?;
        let events = feed.events.iter().map(EventView::of).collect::<Result<_, _>>()?;
        Answer::ok(&View { events, next: Shown(Cursor(feed.next)) })
    }

    fn weight(call: &Call) -> usize {
        let wanted = call.parameters().and_then(|it| parameters(call.scope, &it));
        wanted.map_or(0, |it| usize::try_from(it.limit).unwrap_or_default().saturating_mul(WEIGHT))
    }
}

#[derive(Serialize)]
struct View<'a> {
    events: Vec<EventView<'a>>,
    next: Shown<Cursor>,
}

/// Where to go on, as clients keep it; none is the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor(Option<FeedPlace>);

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => formatter.write_str("0"),
            Some(it) => write!(formatter, "{:x}.{}", it.position, it.id.as_uuid().simple()),
        }
    }
}

impl FromStr for Cursor {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let place = || {
            let (position, id) = text.split_once('.')?;
            let position = i64::from_str_radix(position, 16).ok().filter(|it| *it >= 0)?;
            let id = EventId::from_uuid(Uuid::try_parse(id).ok()?);
            Some(Self(Some(FeedPlace { position, id })))
        };
        let read = if text == "0" { Some(Self(None)) } else { place() };
        read.filter(|it| it.to_string() == text).ok_or("must be a cursor that an answer had as its next")
    }
}

fn parameters(provider: ProviderId, query: &Query) -> Result<FeedWanted, ApiError> {
    let mut faults = Vec::new();
    let after = query.parsed("after", str::parse::<Cursor>, &mut faults).and_then(|it| it.0);
    let kind = query.parsed("type", |it| named(it, EventKind::from_name, KINDS), &mut faults);
    let state = query.parsed("state", |it| named(it, EventState::from_name, STATES), &mut faults);
    let limit = query.natural("limit", LIMIT_MAX, &mut faults).map(|it| it.min(LIMIT_MAX));
    unless_faulty(limit.map(|limit| FeedWanted { provider, after, kind, state, limit }), &faults)
}

const KINDS: &str = "must be recognition.received, recognition.updated or redemption.created";
pub(super) const STATES: &str = "must be pending, delivered, exhausted or unaddressed";

pub(super) fn named<T>(
    text: &str,
    from_name: fn(&str) -> Option<T>,
    must_be: &'static str,
) -> Result<T, &'static str> {
    from_name(text).ok_or(must_be)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_one_that_was_given() {
        let id = EventId::from_uuid(Uuid::from_u128(0xab));
        let place = Cursor(Some(FeedPlace { position: 0x1f, id }));
        for cursor in [Cursor(None), place] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for wrong in
            ["", "1", "x", "1f", "-1.00000000000000000000000000000000", "1F.000000000000000000000000000000ab"]
        {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_kind_and_state_is_told() {
        assert!(EventKind::ALL.iter().all(|it| KINDS.contains(it.name())));
        assert!(EventState::ALL.iter().all(|it| STATES.contains(it.name())));
    }

    #[test]
    fn parameters_are_judged() {
        let provider = ProviderId::from_uuid(Uuid::nil());
        let check = |text: &str, expected: Result<i64, &str>| {
            let read = parameters(provider, &Query::parse(text).unwrap());
            assert_eq!(read.as_ref().map(|it| it.limit).map_err(|it| it.told().1), expected, "{text}");
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

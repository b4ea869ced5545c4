//! Events and their delivery attempts.

use guerdon_console::LogPosition;
use guerdon_console::model::{Event, EventRow, EventState as ConsoleState, Events, LogPage, ObjectReference};
use guerdon_console::pages::events::EventFilter;
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{
    EventQuery, QueuedEvent, RecordedAttempt, SHOWN_ATTEMPTS_MAX, StoreError, Timestamp,
};
use guerdon_domain::values::{EventId, ProviderId};

use super::attempts::{to_attempt, to_result};
use super::{PageContext, provider_reference, provider_references, providers, to_utc};

const PAGE_SIZE: i64 = 50;

fn to_state(state: EventState) -> ConsoleState {
    match state {
        EventState::Pending => ConsoleState::Pending,
        EventState::Delivered => ConsoleState::Delivered,
        EventState::Exhausted => ConsoleState::Exhausted,
        EventState::Unaddressed => ConsoleState::Unaddressed,
    }
}

fn event_query(context: &PageContext<'_>) -> EventQuery {
    let filter = EventFilter::from_query(context.query);
    let position = LogPosition::from_query(context.query);
    let id = |text: &str| text.parse::<EventId>().ok();
    EventQuery {
        provider: filter.provider.and_then(|id| id.parse::<ProviderId>().ok()),
        state: filter.state.and_then(|state| EventState::from_name(state.name())),
        kind: filter.kind.and_then(|kind| EventKind::from_name(&kind)),
        before: if let LogPosition::Before(cursor) = &position { id(cursor) } else { None },
        after: if let LogPosition::After(cursor) = &position { id(cursor) } else { None },
        limit: PAGE_SIZE + 1, // one more than is shown, to know whether there are more
        ..EventQuery::default()
    }
}

pub(super) fn load_events(mut context: PageContext<'_>) -> Result<Events, StoreError> {
    let names = context.provider_names()?;
    let query = event_query(&context);
    let mut events = context.reads.list_events(&query)?;
    let has_more = i64::try_from(events.len()).is_ok_and(|count| count > PAGE_SIZE);
    if has_more {
        let extra = if query.after.is_some() { 0 } else { events.len() - 1 };
        events.remove(extra);
    }
    let has_newer = query.before.is_some() || (query.after.is_some() && has_more);
    let has_older = query.after.is_some() || has_more;
    let newer = events.first().filter(|_| has_newer).map(|event| event.id.to_string());
    let older = events.last().filter(|_| has_older).map(|event| event.id.to_string());
    let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
    let latest = context.reads.latest_attempts_of_events(&ids)?;
    let row = |event: &QueuedEvent| EventRow {
        latest: latest.get(&event.id).map(to_result),
        id: event.id.to_string(),
        kind: event.kind.name().to_owned(),
        state: to_state(event.state),
        provider: provider_reference(&names, event.provider_id),
        attempts: event.attempts,
        created_at: to_utc(event.created_at),
        next_attempt_at: event.next_attempt_at.map(to_utc),
    };
    Ok(Events {
        list: LogPage { rows: events.iter().map(row).collect(), newer, older },
        providers: provider_references(&names),
        types: EventKind::ALL.iter().map(|kind| kind.name().to_owned()).collect(),
    })
}

pub(super) fn load_event(mut context: PageContext<'_>, id: &str) -> Result<Option<Event>, StoreError> {
    let Ok(id) = id.parse::<EventId>() else { return Ok(None) };
    let Some(found) = context.reads.find_event_any_provider(id)? else { return Ok(None) };
    let Some(provider) = context.reads.find_provider(found.event.provider_id)? else { return Ok(None) };
    let recorded = context.reads.list_attempts(id, SHOWN_ATTEMPTS_MAX)?;
    let company = context.reads.company_of_event(id)?;
    let company = match company {
        Some(company) => context.company_name(company)?,
        None => ObjectReference { id: String::new(), name: "unknown".to_owned() },
    };
    let waits = waits_between_attempts(&recorded, found.event.next_attempt_at);
    let attempts = recorded.iter().zip(waits).map(|(recorded, wait)| to_attempt(recorded, wait));
    Ok(Some(Event {
        id: id.to_string(),
        kind: found.event.kind.name().to_owned(),
        state: to_state(found.event.state),
        provider: providers::to_provider(&provider),
        company,
        created_at: to_utc(found.event.created_at),
        next_attempt_at: found.event.next_attempt_at.map(to_utc),
        attempts: attempts.collect(),
        body: String::from_utf8_lossy(&found.body).into_owned(),
    }))
}

/// Returns for each attempt, oldest first, the wait in microseconds from its end to the next attempt. The wait is
/// `None` after a confirmed attempt, and after the last attempt of an event that is not pending. The stored times
/// already account for replays and `webhooks.time_scale`.
fn waits_between_attempts(
    attempts: &[RecordedAttempt],
    next_attempt_at: Option<Timestamp>,
) -> Vec<Option<i64>> {
    let next_starts =
        attempts.iter().skip(1).map(|attempt| Some(attempt.started_at)).chain([next_attempt_at]);
    let wait = |attempt: &RecordedAttempt, next: Option<Timestamp>| {
        attempt.error.as_ref()?;
        let end = attempt.started_at.saturating_add(attempt.duration);
        Some(i64::try_from((next? - end).whole_microseconds()).unwrap_or(0).max(0))
    };
    attempts.iter().zip(next_starts).map(|(attempt, next)| wait(attempt, next)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: i64 = 1_000_000;

    fn timestamp_at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_micros(seconds * SECOND).unwrap()
    }

    fn attempt_at(number: u32, started: i64, cause: Option<&str>) -> RecordedAttempt {
        RecordedAttempt {
            response_headers: None,
            response_body: Vec::new(),
            number,
            started_at: timestamp_at(started),
            duration: Duration::from_secs(2),
            status: None,
            error: cause.map(str::to_owned),
        }
    }

    #[test]
    fn the_wait_after_the_latest_attempt_ends_when_the_next_one_is_due() {
        let (first, second) = (attempt_at(1, 100, Some("refused")), attempt_at(2, 117, Some("refused")));
        assert_eq!(
            waits_between_attempts(std::slice::from_ref(&first), Some(timestamp_at(117))),
            [Some(15 * SECOND)]
        );
        assert_eq!(
            waits_between_attempts(&[first, second], Some(timestamp_at(137))),
            [Some(15 * SECOND), Some(18 * SECOND)]
        );
    }

    #[test]
    fn a_replay_shortens_the_wait_and_numbers_continue() {
        let replayed = [attempt_at(11, 100, Some("refused")), attempt_at(12, 160, Some("refused"))];
        assert_eq!(
            waits_between_attempts(&replayed, Some(timestamp_at(177))),
            [Some(58 * SECOND), Some(15 * SECOND)]
        );
    }

    #[test]
    fn no_wait_follows_a_confirmed_attempt_or_the_last_one() {
        assert_eq!(
            waits_between_attempts(&[attempt_at(1, 100, None)], Some(timestamp_at(200))),
            [None],
            "replayed after it was confirmed"
        );
        assert_eq!(waits_between_attempts(&[attempt_at(11, 100, Some("refused"))], None), [None]);
        assert_eq!(
            waits_between_attempts(&[attempt_at(1, 100, Some("refused"))], Some(timestamp_at(101))),
            [Some(0)],
            "replayed meanwhile"
        );
    }
}

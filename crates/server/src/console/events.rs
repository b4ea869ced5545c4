//! Events and their delivery attempts.

use guerdon_console::Place;
use guerdon_console::model::{Event, EventRow, EventState as State, Events, Named, Stretch};
use guerdon_console::pages::events::EventFilter;
use guerdon_domain::events::{EventKind, EventState};
use guerdon_domain::ports::{EventsWanted, MadeAttempt, QueuedEvent, StoreError, Timestamp};
use guerdon_domain::values::{EventId, ProviderId};

use super::attempts::attempt;
use super::{Look, named, providers, when};

const PER_PAGE: i64 = 50;

fn state(it: EventState) -> State {
    match it {
        EventState::Pending => State::Pending,
        EventState::Delivered => State::Delivered,
        EventState::Exhausted => State::Exhausted,
        EventState::Unaddressed => State::Unaddressed,
    }
}

fn wanted(look: &Look<'_>) -> EventsWanted {
    let filter = EventFilter::read(look.query);
    let place = Place::read(look.query);
    let id = |text: &str| text.parse::<EventId>().ok();
    EventsWanted {
        provider: filter.provider.and_then(|id| id.parse::<ProviderId>().ok()),
        state: filter.state.and_then(|state| EventState::from_name(state.name())),
        kind: filter.kind.and_then(|kind| EventKind::from_name(&kind)),
        since: None,
        before: if let Place::Before(cursor) = &place { id(cursor) } else { None },
        after: if let Place::After(cursor) = &place { id(cursor) } else { None },
        limit: PER_PAGE + 1, // one more than is shown, to know whether there are more
    }
}

pub(super) fn events(mut look: Look<'_>) -> Result<Events, StoreError> {
    let names = look.provider_names()?;
    let wanted = wanted(&look);
    let mut found = look.reads.events(&wanted)?;
    let is_more = i64::try_from(found.len()).is_ok_and(|count| count > PER_PAGE);
    if is_more {
        let extra = if wanted.after.is_some() { 0 } else { found.len() - 1 };
        found.remove(extra);
    }
    let begins_behind = wanted.before.is_some() || (wanted.after.is_some() && is_more);
    let ends_before = wanted.after.is_some() || is_more;
    let newer = found.first().filter(|_| begins_behind).map(|event| event.id.to_string());
    let older = found.last().filter(|_| ends_before).map(|event| event.id.to_string());
    let row = |event: &QueuedEvent| EventRow {
        id: event.id.to_string(),
        kind: event.kind.name().to_owned(),
        state: state(event.state),
        provider: named(&names, event.provider_id),
        attempts: event.attempts,
        created_at: when(event.created_at),
        next_attempt_at: event.next_attempt_at.map(when),
    };
    let mut providers: Vec<Named> =
        names.iter().map(|(id, name)| Named { id: id.to_string(), name: name.clone() }).collect();
    providers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Events {
        list: Stretch { rows: found.iter().map(row).collect(), newer, older },
        providers,
        types: EventKind::ALL.iter().map(|kind| kind.name().to_owned()).collect(),
    })
}

pub(super) fn event(mut look: Look<'_>, id: &str) -> Result<Option<Event>, StoreError> {
    let Ok(id) = id.parse::<EventId>() else { return Ok(None) };
    let Some(told) = look.reads.anybodys_event(id)? else { return Ok(None) };
    let Some(provider) = look.reads.provider(told.event.provider_id)? else { return Ok(None) };
    let made = look.reads.attempts(id)?;
    let company = look.reads.company_of_event(id)?;
    let company = match company {
        Some(company) => look.company_name(company)?,
        None => Named { id: String::new(), name: "unknown".to_owned() },
    };
    let waits = waits(&made, told.event.next_attempt_at);
    let attempts = made.iter().zip(waits).map(|(made, wait)| attempt(made, wait));
    Ok(Some(Event {
        id: id.to_string(),
        kind: told.event.kind.name().to_owned(),
        state: state(told.event.state),
        provider: providers::shown(&provider),
        company,
        created_at: when(told.event.created_at),
        next_attempt_at: told.event.next_attempt_at.map(when),
        attempts: attempts.collect(),
        body: String::from_utf8_lossy(&told.body).into_owned(),
    }))
}

/// For each attempt, oldest first, the wait in microseconds from its end to the next one: `None` after a confirmed
/// attempt and after the last one. `next_attempt_at` is that of a pending event; it includes replays and
/// `webhooks.time_scale`.
fn waits(attempts: &[MadeAttempt], next_attempt_at: Option<Timestamp>) -> Vec<Option<i64>> {
    let next_starts =
        attempts.iter().skip(1).map(|attempt| Some(attempt.started_at)).chain([next_attempt_at]);
    let wait = |attempt: &MadeAttempt, next: Option<Timestamp>| {
        attempt.cause.as_ref()?;
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

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_micros(seconds * SECOND).unwrap()
    }

    fn made(number: u32, started: i64, cause: Option<&str>) -> MadeAttempt {
        MadeAttempt {
            number,
            started_at: at(started),
            duration: Duration::from_secs(2),
            status: None,
            cause: cause.map(str::to_owned),
        }
    }

    #[test]
    fn the_wait_after_the_latest_attempt_ends_when_the_next_one_is_due() {
        let (first, second) = (made(1, 100, Some("refused")), made(2, 117, Some("refused")));
        assert_eq!(waits(std::slice::from_ref(&first), Some(at(117))), [Some(15 * SECOND)]);
        assert_eq!(waits(&[first, second], Some(at(137))), [Some(15 * SECOND), Some(18 * SECOND)]);
    }

    #[test]
    fn a_replay_shortens_the_wait_and_numbers_continue() {
        let replayed = [made(11, 100, Some("refused")), made(12, 160, Some("refused"))];
        assert_eq!(waits(&replayed, Some(at(177))), [Some(58 * SECOND), Some(15 * SECOND)]);
    }

    #[test]
    fn no_wait_follows_a_confirmed_attempt_or_the_last_one() {
        assert_eq!(waits(&[made(1, 100, None)], Some(at(200))), [None], "replayed after it was confirmed");
        assert_eq!(waits(&[made(11, 100, Some("refused"))], None), [None]);
        assert_eq!(waits(&[made(1, 100, Some("refused"))], Some(at(101))), [Some(0)], "replayed meanwhile");
    }
}

//! Sample models of the event pages.

use guerdon_console::model::{Attempt, AttemptResult, Event, EventRow, EventState, Events, LogPage};
use time::Duration;

use super::providers::sample_provider;
use super::{HOSTILE_NAME, NOW, sample_id, sample_reference};

const TYPES: [&str; 3] = ["recognition.received", "recognition.updated", "redemption.created"];

/// Delays before the next attempt, in seconds.
const WAITS: [i64; 10] = [15, 18, 95, 582, 2_319, 6_890, 16_863, 36_030, 69_647, 124_674];

fn event_row(number: u32) -> EventRow {
    let state = EventState::ALL.into_iter().cycle().nth(usize::try_from(number).unwrap_or(0));
    let state = state.unwrap_or(EventState::Pending);
    let name = if number == 3 { HOSTILE_NAME } else { "Acme Rewards" };
    let is_pending = state == EventState::Pending;
    EventRow {
        id: sample_id(5_000 + number),
        kind: TYPES
            .into_iter()
            .cycle()
            .nth(usize::try_from(number).unwrap_or(0))
            .unwrap_or_default()
            .to_owned(),
        state,
        provider: sample_reference(1, name),
        attempts: number % 12,
        latest: (!number.is_multiple_of(4)).then(|| AttemptResult {
            status: (number % 4 < 3).then_some(if number % 4 == 1 { 200 } else { 503 }),
            cause: (number % 4 > 1).then(|| "TLS: invalid peer certificate: expired".to_owned()),
        }),
        created_at: NOW - Duration::seconds(i64::from(number) * 613),
        next_attempt_at: is_pending.then(|| NOW + Duration::seconds(i64::from(number) * 100 - 50)),
    }
}

pub fn event_list() -> Events {
    Events {
        list: LogPage {
            rows: (0..50).map(event_row).collect(),
            newer: Some("newer&1".to_owned()),
            older: Some("older=1".to_owned()),
        },
        providers: vec![sample_reference(1, "Acme Rewards"), sample_reference(2, HOSTILE_NAME)],
        types: TYPES.map(str::to_owned).to_vec(),
    }
}

pub fn empty_event_list() -> Events {
    let list = LogPage { rows: Vec::new(), newer: None, older: None };
    Events { list, providers: Vec::new(), types: Vec::new() }
}

pub fn failed_attempt(number: u32, status: Option<u16>, cause: &str) -> Attempt {
    let wait = usize::try_from(number).ok().and_then(|number| WAITS.get(number - 1)).copied();
    Attempt {
        number,
        started_at: NOW - Duration::hours(60) + Duration::hours(i64::from(number) * 3),
        result: AttemptResult { status, cause: Some(cause.to_owned()) },
        response_headers: status.map_or_else(String::new, |_| {
            "server: nginx\ncontent-type: text/html; charset=utf-8\nx-<b>: 1\n".to_owned()
        }),
        response_body: status.map_or_else(String::new, |status| {
            format!(
                "<html><body onload=alert(1)>{}</body></html>",
                "refused by the proxy, ".repeat(usize::from(status % 7))
            )
        }),
        duration: i64::from(number) * 31_007,
        next_wait: wait.map(|seconds| seconds * 1_000_000),
    }
}

fn sample_event(state: EventState, attempts: Vec<Attempt>, provider_number: u32) -> Event {
    let body = format!(
        r#"{{"type":"recognition.received","version":"1.0","data":{{"id":"{}","sender_type":"user","sender_name":"Ada
        Lovelace","sender_email":"ada@example.com","occasion_name":"Thank you","points":20,"share":true,
        "created_at":"2026-11-17T20:01:02.345Z","message":"secret words"}}}}"#,
        sample_id(5_003)
    );
    Event {
        id: sample_id(5_003),
        kind: TYPES.into_iter().next().unwrap_or_default().to_owned(),
        state,
        provider: sample_provider(provider_number),
        company: sample_reference(101, "Northwind Traders"),
        created_at: NOW - Duration::hours(60),
        next_attempt_at: None,
        body: body.replace("\n        ", " "),
        attempts,
    }
}

pub fn exhausted_event() -> Event {
    let mut attempts = vec![
        failed_attempt(1, None, "no response in time"),
        failed_attempt(
            2,
            None,
            "TLS: invalid peer certificate: certificate expired: verification time 1795185310 (UNIX), but \
                          certificate is not valid after 1795000000 (185310 seconds ago)",
        ),
        failed_attempt(3, Some(503), "returned status 503"),
    ];
    attempts.extend((4..=11).map(|number| failed_attempt(number, Some(403), "returned status 403")));
    sample_event(EventState::Exhausted, attempts, 2)
}

pub fn pending_event() -> Event {
    let attempts = vec![failed_attempt(1, None, "refused: the host has an address that is not public")];
    let next_attempt_at = Some(NOW + Duration::seconds(11));
    Event { next_attempt_at, ..sample_event(EventState::Pending, attempts, 3) }
}

pub fn unaddressed_event() -> Event {
    Event { body: "no JSON".to_owned(), ..sample_event(EventState::Unaddressed, Vec::new(), 5) }
}

pub fn event_addressed_since() -> Event {
    sample_event(EventState::Unaddressed, Vec::new(), 1)
}

//! The page of one event.

use maud::{Markup, html};

use crate::body;
use crate::frame::{self, At, Frame, Section};
use crate::hint;
use crate::model::{Attempt, Event, EventState, Named};
use crate::numbers;
use crate::parts::{self, Tone};
use crate::times;

/// Renders the event, its attempts, and why they failed.
pub fn page(event: &Event, frame: &Frame) -> String {
    let main = html! {
        h1 { "Event " span.id { (event.id) } }
        p.subtitle { (event.kind) " " (parts::state(event.state)) }
        (diagnosis(event))
        section aria-labelledby="facts" { h2 #facts { "Facts" } (facts(event, frame)) }
        section aria-labelledby="attempts" {
            h2 #attempts { "Attempts" }
            @if event.attempts.is_empty() { (parts::nothing("No attempt was made yet.")) }
            @else { (attempts(&event.attempts)) }
        }
        section aria-labelledby="body" {
            h2 #body { "Body" }
            pre tabindex="0" { code { (body::shown(&event.body)) } }
            p.soft { "Laid out, and without what tells of persons; it is sent as it was written, byte for byte." }
        }
        (commands(event))
    };
    frame::page(frame, At::Below(Section::Events), &format!("Event {}", event.id), &main)
}

/// Renders why the event is not delivered, and what to do.
fn diagnosis(event: &Event) -> Markup {
    let provider = &event.provider;
    let advice = match event.state {
        EventState::Delivered => None,
        EventState::Unaddressed if provider.callback_origin.is_some() => Some(format!(
            "The provider had no callback URL when this was due. It has one now: `guerdon event replay {}` sends it.",
            event.id
        )),
        EventState::Unaddressed => Some(hint::unaddressed(provider)),
        EventState::Pending if provider.is_suspended => Some(format!(
            "The provider is suspended, so its events wait. `guerdon provider set {} --suspended false` sends them on.",
            provider.id
        )),
        EventState::Pending | EventState::Exhausted => {
            event.attempts.last().and_then(|attempt| hint::hint(attempt, provider))
        }
    };
    let tone = if event.state == EventState::Exhausted { Tone::Bad } else { Tone::Warn };
    html! {
        @if let Some(advice) = advice {
            (parts::advice(tone, &advice))
        }
    }
}

fn facts(event: &Event, frame: &Frame) -> Markup {
    let provider = Named { id: event.provider.id.clone(), name: event.provider.name.clone() };
    let url = event.provider.callback_origin.as_deref();
    let mut facts = vec![
        ("Provider", parts::provider(&provider)),
        ("Callback URL", html! { @if let Some(url) = url { code { (url) } } @else { "none" } }),
        ("Company", parts::company(&event.company)),
        ("Created", times::moment_ago(frame.now, event.created_at)),
    ];
    if let Some(at) = event.next_attempt_at {
        facts.push(("Next attempt", times::moment_ago(frame.now, at)));
    }
    parts::facts(&facts)
}

fn attempts(all: &[Attempt]) -> Markup {
    let rows = html! {
        @for it in all {
            tr {
                th.number scope="row" { (it.number) }
                td { (times::moment(it.started_at)) }
                td.wrap { (result(it)) }
                td.number { (numbers::micros(it.duration)) }
                td.number { @if let Some(wait) = it.next_wait { (numbers::micros(wait)) } @else { span.soft { "–" } } }
            }
        }
    };
    let head = parts::headings(&["Number#", "Started", "Result", "Took#", "Wait before the next#"]);
    parts::table("Attempts", &head, &rows)
}

/// Renders the result of an attempt: its status, or why there was no response.
pub(super) fn result(attempt: &Attempt) -> Markup {
    html! {
        @match (attempt.status, &attempt.cause) {
            (Some(200), None) => (parts::badge(Tone::Good, "confirmed")),
            (Some(status), _) => { (parts::badge(Tone::Bad, "rejected")) " status " (status) },
            (None, Some(cause)) => { (parts::badge(Tone::Bad, "failed")) " " (cause) },
            (None, None) => (parts::badge(Tone::Bad, "failed")),
        }
    }
}

fn commands(event: &Event) -> Markup {
    let id = &event.id;
    let mut all = Vec::new();
    if event.state != EventState::Delivered {
        all.push(("Make it due at once", format!("guerdon event replay {id}")));
    }
    all.push(("Show it on the command line, whole", format!("guerdon event show {id}")));
    if event.state != EventState::Delivered {
        let example = format!("guerdon webhook send-example {} --type {}", event.provider.id, event.kind);
        all.push(("Try the receiver with an event that tells of nothing", example));
    }
    parts::commands(&all)
}

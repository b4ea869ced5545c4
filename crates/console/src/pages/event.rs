//! The page of one event.

use maud::{Markup, html};

use crate::components::{self, Tone};
use crate::diagnostics;
use crate::event_body;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{Attempt, Event, EventState, ObjectReference};
use crate::numbers;
use crate::time_format;

/// Renders the event, its attempts, and why they failed.
pub fn render_page(event: &Event, frame: &Frame) -> String {
    let main = html! {
        h1 { "Event " span.id { (event.id) } }
        p.subtitle { (event.kind) " " (components::state_badge(event.state)) }
        (render_diagnosis(event))
        section aria-labelledby="facts" { h2 #facts { "Facts" } (event_facts(event, frame)) }
        section aria-labelledby="attempts" {
            h2 #attempts { "Attempts" }
            @if event.attempts.is_empty() { (components::empty_message("There have been no attempts yet.")) }
            @else { (attempt_table(&event.attempts)) }
        }
        (render_responses(&event.attempts))
        section aria-labelledby="body" {
            h2 #body { "Body" }
            pre.wrapped tabindex="0" { code { (event_body::format_redacted(&event.body)) } }
            p.soft { "Formatted, with personal data hidden. The stored body is sent unchanged." }
        }
        (event_commands(event))
    };
    frame::render_frame(frame, PagePosition::Below(Section::Events), &format!("Event {}", event.id), &main)
}

/// Renders why the event is not delivered, and what to do.
fn render_diagnosis(event: &Event) -> Markup {
    let provider = &event.provider;
    let advice = match event.state {
        EventState::Delivered => None,
        EventState::Unaddressed if provider.callback_origin.is_some() => Some(format!(
            "The provider had no callback URL when this event was due. It has one now: send it with `guerdon event replay {}`.",
            event.id
        )),
        EventState::Unaddressed => Some(diagnostics::explain_missing_url(provider)),
        EventState::Pending if provider.is_suspended => Some(format!(
            "The provider is suspended, so its events wait. Resume delivery with `guerdon provider set {} --suspended false`.",
            provider.id
        )),
        EventState::Pending | EventState::Exhausted => {
            event.attempts.last().and_then(|attempt| diagnostics::diagnose_attempt(attempt, provider))
        }
    };
    let tone = if event.state == EventState::Exhausted { Tone::Bad } else { Tone::Warn };
    html! {
        @if let Some(advice) = advice {
            (components::advice_paragraph(tone, &advice))
        }
    }
}

fn event_facts(event: &Event, frame: &Frame) -> Markup {
    let provider = ObjectReference { id: event.provider.id.clone(), name: event.provider.name.clone() };
    let url = event.provider.callback_origin.as_deref();
    let mut facts = vec![
        ("Provider", components::provider_link(&provider)),
        ("Callback URL", html! { @if let Some(url) = url { code { (url) } } @else { "none" } }),
        ("Company", components::company_link(&event.company)),
        ("Created", time_format::render_timestamp_with_age(frame.now, event.created_at)),
    ];
    facts.extend(
        event_body::named_users(&event.body).into_iter().map(|(role, id)| (role, components::user_link(&id))),
    );
    if let Some(at) = event.next_attempt_at {
        facts.push(("Next attempt", time_format::render_timestamp_with_age(frame.now, at)));
    }
    components::fact_list(&facts)
}

fn attempt_table(all: &[Attempt]) -> Markup {
    let rows = html! {
        @for attempt in all {
            tr {
                th.number scope="row" { (attempt.number) }
                td { (time_format::render_timestamp(attempt.started_at)) }
                td.wrap { (attempt_result(attempt)) }
                td.number { (numbers::format_micros(attempt.duration)) }
                td.number { @if let Some(wait) = attempt.next_wait { (numbers::format_micros(wait)) } @else { span.soft { "–" } } }
            }
        }
    };
    let head = components::column_headings(&[
        "Number#",
        "Started",
        "Result",
        "Took#",
        "Wait before the next attempt#",
    ]);
    components::scrollable_table("Attempts", &head, &rows)
}

/// Renders the receiver's responses, newest first. Only the newest is expanded.
fn render_responses(attempts: &[Attempt]) -> Markup {
    let responses: Vec<&Attempt> =
        attempts.iter().rev().filter(|attempt| attempt.result.status.is_some()).collect();
    html! {
        @if !responses.is_empty() {
            section aria-labelledby="responses" {
                h2 #responses { "Responses" }
                @for (index, attempt) in responses.iter().enumerate() { (render_response(attempt, index == 0)) }
                p.soft { "At most the first 1,024 bytes of the headers and 1,024 characters of the body. Headers are stored only for failed attempts, without the values of cookies." }
            }
        }
    }
}

fn render_response(attempt: &Attempt, is_open: bool) -> Markup {
    let status = attempt.result.status.map_or_else(String::new, |status| status.to_string());
    html! {
        details.response open[is_open] {
            summary { "Attempt " (attempt.number) ": status " (status) }
            @if !attempt.response_headers.is_empty() { pre.wrapped tabindex="0" { code { (attempt.response_headers.trim_end()) } } }
            @if attempt.response_body.trim().is_empty() { p.soft { "The body is empty." } }
            @else { pre.wrapped tabindex="0" { code { (attempt.response_body) } } }
        }
    }
}

/// Renders the result of an attempt: its status, or why there was no response.
pub(super) fn attempt_result(attempt: &Attempt) -> Markup {
    html! {
        @match (attempt.result.status, &attempt.result.cause) {
            (Some(200), None) => (components::badge(Tone::Good, "confirmed")),
            (Some(status), _) => { (components::badge(Tone::Bad, "rejected")) " status " (status) },
            (None, Some(cause)) => { (components::badge(Tone::Bad, "failed")) " " (cause) },
            (None, None) => (components::badge(Tone::Bad, "failed")),
        }
    }
}

fn event_commands(event: &Event) -> Markup {
    let id = &event.id;
    let mut all = Vec::new();
    if event.state != EventState::Delivered {
        all.push(("Make it due immediately", format!("guerdon event replay {id}")));
    }
    all.push(("Show it with its full body on the command line", format!("guerdon event show {id}")));
    if event.state != EventState::Delivered {
        let example = format!("guerdon webhook send-example {} --type {}", event.provider.id, event.kind);
        all.push(("Send an example event to the receiver", example));
    }
    components::command_list(&all)
}

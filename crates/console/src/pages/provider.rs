//! The page of one provider.

use maud::{Markup, html};

use super::event::result;
use super::providers::{alarming, confirmed, latency, standing};
use crate::frame::{self, At, Frame, Section};
use crate::hint;
use crate::model::{Failure, Performance, ProviderDetail, Series};
use crate::numbers;
use crate::parts::{self, Tone};
use crate::plot::{self, Kind, Layer, Plot, Size, Unit};
use crate::query::Query;
use crate::times;

/// Renders how the provider's receiver performs, and which events are pending.
pub fn page(detail: &ProviderDetail, frame: &Frame) -> String {
    let provider = &detail.provider;
    let main = html! {
        h1 { (provider.name) }
        p.subtitle { (standing(provider)) }
        (troubles(detail))
        (tiles(detail))
        section aria-labelledby="attempts" {
            h2 #attempts { "Attempts to deliver" }
            div.plots.halves {
                (attempts("Attempts by hour", &detail.confirmed_by_hour, &detail.failed_by_hour))
                (attempts("Attempts by day", &detail.confirmed_by_day, &detail.failed_by_day))
            }
        }
        section aria-labelledby="failure" {
            h2 #failure { "Last failure" }
            @match &detail.last_failure {
                Some(it) => (failure(it, detail, frame)),
                None => (parts::nothing("No attempt has failed.")),
            }
        }
        section aria-labelledby="facts" { h2 #facts { "Facts" } (facts(detail)) }
        (commands(detail))
    };
    frame::page(frame, At::Below(Section::Providers), &provider.name, &main)
}

fn troubles(detail: &ProviderDetail) -> Markup {
    let provider = &detail.provider;
    let suspended = "It is suspended: its credentials are refused, and its events wait.";
    html! {
        @if provider.is_suspended || provider.callback_origin.is_none() {
            ul.notes {
                @if provider.is_suspended { li.warn { p { (suspended) } } }
                @if provider.callback_origin.is_none() {
                    li.warn { p { (parts::prose(&hint::unaddressed(provider))) } }
                }
            }
        }
    }
}

/// Renders a link to the provider's events in a state.
fn events(detail: &ProviderDetail, state: &str) -> Markup {
    let link = Query::default().with("provider", &detail.provider.id).with("state", state).link("/events");
    html! { a href=(link) { (state) } }
}

fn tiles(detail: &ProviderDetail) -> Markup {
    let performance = |period: &Performance| {
        let note = format!(
            "of {}, {} on average",
            numbers::of(period.attempts, "attempt", "attempts"),
            latency(period)
        );
        (confirmed(period), html! { (if period.attempts == 0 { "no attempt" } else { note.as_str() }) })
    };
    let ((day, of_day), (month, of_month)) = (performance(&detail.last_24h), performance(&detail.last_30d));
    let waiting = &detail.waiting;
    let pending = html! { (waiting.pending) };
    parts::tiles(&[
        ("Confirmed, 24 hours", day, of_day),
        ("Confirmed, 30 days", month, of_month),
        ("Waiting", pending, events(detail, "pending")),
        ("Given up", alarming(waiting.exhausted, Tone::Bad), events(detail, "exhausted")),
        ("Without a URL", alarming(waiting.unaddressed, Tone::Warn), events(detail, "unaddressed")),
    ])
}

fn attempts(title: &str, confirmed: &Series, failed: &Series) -> Markup {
    let layers = vec![
        Layer { name: "confirmed", tone: Tone::Good, series: confirmed },
        Layer { name: "failed", tone: Tone::Bad, series: failed },
    ];
    let unit = Unit::Count("attempt", "attempts");
    plot::figure(&Plot { title, unit, kind: Kind::Bars, layers, threshold: None, size: Size::Half })
}

fn failure(failure: &Failure, detail: &ProviderDetail, frame: &Frame) -> Markup {
    let attempt = &failure.attempt;
    html! {
        (parts::facts(&[
            ("Result", result(attempt)),
            ("Started", times::moment_ago(frame.now, attempt.started_at)),
            ("Took", html! { (numbers::micros(attempt.duration)) }),
            ("Event", html! { (parts::event(&failure.event_id)) ", attempt " (attempt.number) }),
        ]))
        @if let Some(hint) = hint::hint(attempt, &detail.provider) {
            (parts::advice(Tone::Warn, &hint))
        }
    }
}

fn facts(detail: &ProviderDetail) -> Markup {
    let provider = &detail.provider;
    let url = provider.callback_origin.as_deref();
    let designated = if provider.is_designated { "yes" } else { "no" };
    parts::facts(&[
        ("Id", html! { code { (provider.id) } }),
        ("Callback URL", html! { @if let Some(url) = url { code { (url) } } @else { "none" } }),
        ("Manages all domain resources", html! { (designated) }),
        ("Companies", html! { (numbers::counted(detail.companies)) }),
    ])
}

fn commands(detail: &ProviderDetail) -> Markup {
    let (provider, waiting) = (&detail.provider, &detail.waiting);
    let id = &provider.id;
    let mut all = vec![("Send its receiver an event that tells of nothing", {
        format!("guerdon webhook send-example {id} --type recognition.received")
    })];
    for (count, state) in [(waiting.exhausted, "exhausted"), (waiting.unaddressed, "unaddressed")] {
        if !count.is_zero() {
            let what =
                if state == "exhausted" { "Send again what was given up" } else { "Send what had no URL" };
            all.push((what, format!("guerdon event replay --provider {id} --state {state}")));
        }
    }
    let (suspend, suspended) =
        if provider.is_suspended { ("Let it work again", false) } else { ("Suspend it", true) };
    all.extend([
        ("Send its events elsewhere", format!("guerdon provider set {id} --callback-url URL")),
        (suspend, format!("guerdon provider set {id} --suspended {suspended}")),
        ("Give it a new API secret, the old one for a day more", {
            format!("guerdon provider rotate {id} --api-secret --grace 24")
        }),
        ("Sign with a new shared secret, with the old one for a day more", {
            format!("guerdon provider rotate {id} --shared-secret --grace 24")
        }),
    ]);
    parts::commands(&all)
}

//! The page of one provider.

use maud::{Markup, html};

use super::event::attempt_result;
use super::providers::{format_latency, highlight_nonzero, status_badges, success_rate};
use crate::components::{self, Tone};
use crate::diagnostics;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{DeliveryFailure, Performance, ProviderDetail, Series};
use crate::numbers;
use crate::plot::{self, Layer, Plot, PlotKind, PlotSize, ValueUnit};
use crate::query::Query;
use crate::time_format;

/// Renders how the provider's receiver performs, and which events are pending.
pub fn render_page(detail: &ProviderDetail, frame: &Frame) -> String {
    let provider = &detail.provider;
    let main = html! {
        h1 { (provider.name) }
        p.subtitle { (status_badges(provider)) }
        (provider_warnings(detail))
        (provider_tiles(detail))
        section aria-labelledby="attempts" {
            h2 #attempts { "Attempts to deliver" }
            div.plots.halves {
                (attempt_plot("Attempts by hour", &detail.confirmed_by_hour, &detail.failed_by_hour))
                (attempt_plot("Attempts by day", &detail.confirmed_by_day, &detail.failed_by_day))
            }
        }
        section aria-labelledby="failure" {
            h2 #failure { "Last failure" }
            @match &detail.last_failure {
                Some(failure) => (render_failure(failure, detail, frame)),
                None => (components::empty_message("No attempts have failed.")),
            }
        }
        section aria-labelledby="facts" { h2 #facts { "Facts" } (provider_facts(detail)) }
        (provider_commands(detail))
    };
    frame::render_frame(frame, PagePosition::Below(Section::Providers), &provider.name, &main)
}

fn provider_warnings(detail: &ProviderDetail) -> Markup {
    let provider = &detail.provider;
    let suspended = "It is suspended: its credentials are rejected, and its events wait.";
    html! {
        @if provider.is_suspended || provider.callback_origin.is_none() {
            ul.notes {
                @if provider.is_suspended { li.warn { p { (suspended) } } }
                @if provider.callback_origin.is_none() {
                    li.warn { p { (components::render_prose(&diagnostics::explain_missing_url(provider))) } }
                }
            }
        }
    }
}

/// Renders a link to the provider's events in a state.
fn event_state_link(detail: &ProviderDetail, state: &str) -> Markup {
    let link = Query::default()
        .with_parameter("provider", &detail.provider.id)
        .with_parameter("state", state)
        .to_link("/events");
    html! { a href=(link) { (state) } }
}

fn provider_tiles(detail: &ProviderDetail) -> Markup {
    let performance = |period: &Performance| {
        let note = format!(
            "of {}, {} on average",
            numbers::count_with_noun(period.attempts, "attempt", "attempts"),
            format_latency(period)
        );
        (success_rate(period), html! { (if period.attempts == 0 { "no attempt" } else { note.as_str() }) })
    };
    let ((day, of_day), (month, of_month)) = (performance(&detail.last_24h), performance(&detail.last_30d));
    let waiting = &detail.undelivered;
    let pending = html! { (waiting.pending) };
    components::tile_list(&[
        ("Confirmed, 24 hours", day, of_day),
        ("Confirmed, 30 days", month, of_month),
        ("Waiting", pending, event_state_link(detail, "pending")),
        ("Given up", highlight_nonzero(waiting.exhausted, Tone::Bad), event_state_link(detail, "exhausted")),
        (
            "Without a URL",
            highlight_nonzero(waiting.unaddressed, Tone::Warn),
            event_state_link(detail, "unaddressed"),
        ),
    ])
}

fn attempt_plot(title: &str, confirmed: &Series, failed: &Series) -> Markup {
    let layers = vec![
        Layer { name: "confirmed", tone: Tone::Good, series: confirmed },
        Layer { name: "failed", tone: Tone::Bad, series: failed },
    ];
    let unit = ValueUnit::Count("attempt", "attempts");
    plot::render_plot(&Plot {
        title,
        unit,
        kind: PlotKind::Bars,
        layers,
        threshold: None,
        size: PlotSize::Half,
    })
}

fn render_failure(failure: &DeliveryFailure, detail: &ProviderDetail, frame: &Frame) -> Markup {
    let attempt = &failure.attempt;
    html! {
        (components::fact_list(&[
            ("Result", attempt_result(attempt)),
            ("Started", time_format::render_timestamp_with_age(frame.now, attempt.started_at)),
            ("Took", html! { (numbers::format_micros(attempt.duration)) }),
            ("Event", html! { (components::event_link(&failure.event_id)) ", attempt " (attempt.number) }),
        ]))
        @if let Some(diagnosis) = diagnostics::diagnose_attempt(attempt, &detail.provider) {
            (components::advice_paragraph(Tone::Warn, &diagnosis))
        }
    }
}

fn provider_facts(detail: &ProviderDetail) -> Markup {
    let provider = &detail.provider;
    let url = provider.callback_origin.as_deref();
    let designated = if provider.is_designated { "yes" } else { "no" };
    components::fact_list(&[
        ("Id", html! { code { (provider.id) } }),
        ("Callback URL", html! { @if let Some(url) = url { code { (url) } } @else { "none" } }),
        ("Manages all domain resources", html! { (designated) }),
        ("Companies", html! { (numbers::format_count(detail.companies)) }),
    ])
}

fn provider_commands(detail: &ProviderDetail) -> Markup {
    let (provider, waiting) = (&detail.provider, &detail.undelivered);
    let id = &provider.id;
    let mut all = vec![("Send an example event to its receiver", {
        format!("guerdon webhook send-example {id} --type recognition.received")
    })];
    for (count, state) in [(waiting.exhausted, "exhausted"), (waiting.unaddressed, "unaddressed")] {
        if !count.is_zero() {
            let what = if state == "exhausted" {
                "Replay exhausted events"
            } else {
                "Send events that had no callback URL"
            };
            all.push((what, format!("guerdon event replay --provider {id} --state {state}")));
        }
    }
    let (suspend, suspended) =
        if provider.is_suspended { ("Resume it", false) } else { ("Suspend it", true) };
    all.extend([
        ("Change its callback URL", format!("guerdon provider set {id} --callback-url URL")),
        (suspend, format!("guerdon provider set {id} --suspended {suspended}")),
        ("Rotate its API secret; the old one stays valid for a day", {
            format!("guerdon provider rotate {id} --api-secret --grace 24")
        }),
        ("Rotate its shared secret; the old one stays valid for a day", {
            format!("guerdon provider rotate {id} --shared-secret --grace 24")
        }),
    ]);
    components::command_list(&all)
}

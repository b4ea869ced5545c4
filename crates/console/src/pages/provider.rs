//! The page of one provider.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::event::attempt_result;
use super::providers::{format_latency, highlight_nonzero, is_failing, status_badges, success_rate};
use crate::components::{self, Tone};
use crate::diagnostics;
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{DeliveryFailure, Percentiles, Performance, ProviderDetail, Series};
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
        (provider_tiles(detail, frame.now))
        section aria-labelledby="attempts" {
            h2 #attempts { "Attempts to deliver" }
            (attempt_summary(detail))
            div.plots.halves {
                (attempt_plot("Attempts by hour", &detail.confirmed_by_hour, &detail.failed_by_hour))
                (attempt_plot("Attempts by day", &detail.confirmed_by_day, &detail.failed_by_day))
            }
        }
        section aria-labelledby="failure" {
            h2 #failure { "Last failure" }
            @match &detail.last_failure {
                Some(failure) => (render_failure(failure, detail, frame)),
                None => (components::empty_message("No attempt of an undelivered event has failed.")),
            }
        }
        section aria-labelledby="facts" { h2 #facts { "Facts" } (provider_facts(detail)) }
        (provider_commands(detail))
    };
    frame::render_frame(frame, PagePosition::Below(Section::Providers), &provider.name, &main)
}

fn provider_warnings(detail: &ProviderDetail) -> Markup {
    let provider = &detail.provider;
    let suspended = "This provider is suspended: its credentials are rejected, and its events wait.";
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

fn provider_tiles(detail: &ProviderDetail, now: OffsetDateTime) -> Markup {
    let (day, latest) = (&detail.last_24h, detail.latest.as_ref());
    let receiver = if is_failing(latest, now) {
        components::badge(Tone::Bad, "failing")
    } else {
        success_rate(latest, now)
    };
    let note = match latest {
        Some(latest) if latest.is_failing(now) => {
            format!("{} of the last {} attempts confirmed", latest.confirmed, latest.attempts)
        }
        Some(_) => "of the last attempts confirmed".to_owned(),
        None => "no attempt yet".to_owned(),
    };
    let attempts = format!("in {}", numbers::count_with_noun(day.attempts, "attempt", "attempts"));
    let percentiles =
        day.percentiles.as_ref().map_or_else(|| "no attempt".to_owned(), components::format_percentiles);
    let waiting = &detail.undelivered;
    let pending = html! { (waiting.pending) };
    components::tile_list(&[
        ("Receiver", receiver, html! { (note) }),
        (
            "Events confirmed, 24 hours",
            html! { (numbers::format_count(day.confirmed)) },
            html! { (attempts) },
        ),
        ("Events waiting", pending, event_state_link(detail, "pending")),
        ("Exhausted", highlight_nonzero(waiting.exhausted, Tone::Bad), event_state_link(detail, "exhausted")),
        (
            "Without a URL",
            highlight_nonzero(waiting.unaddressed, Tone::Warn),
            event_state_link(detail, "unaddressed"),
        ),
        ("Mean delivery time, 24 hours", html! { (format_latency(day)) }, html! { (percentiles) }),
    ])
}

/// Renders the attempts of two periods as a table.
fn attempt_summary(detail: &ProviderDetail) -> Markup {
    let row = |name: &str, period: &Performance| {
        let share =
            numbers::format_percent(period.confirmed, period.attempts).unwrap_or_else(|| "–".to_owned());
        let percentile = |of: fn(&Percentiles) -> i64| {
            period.percentiles.as_ref().map_or_else(|| "–".to_owned(), |all| numbers::format_micros(of(all)))
        };
        html! {
            tr {
                th scope="row" { (name) }
                td.number { (numbers::format_count(period.confirmed)) }
                td.number { (numbers::format_count(period.attempts)) }
                td.number { (share) }
                td.number { (format_latency(period)) }
                td.number { (percentile(|all| all.p50)) }
                td.number { (percentile(|all| all.p95)) }
                td.number { (percentile(|all| all.p99)) }
            }
        }
    };
    let head = components::column_headings(&[
        "Period",
        "Events confirmed#",
        "Attempts#",
        "Attempts confirmed#",
        "Mean time#",
        "p50#",
        "p95#",
        "p99#",
    ]);
    let rows = html! { (row("24 hours", &detail.last_24h)) (row("30 days", &detail.last_30d)) };
    html! {
        (components::scrollable_table("Attempts by period", &head, &rows))
        p.soft { "Percentiles are estimated from counts in buckets, within a factor of 3; the maximum is 15 s." }
    }
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
            ("Duration", html! { (numbers::format_micros(attempt.duration)) }),
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
    let replays = [
        (waiting.pending, "pending", "Send pending events now, after its receiver has recovered"),
        (waiting.exhausted, "exhausted", "Replay exhausted events"),
        (waiting.unaddressed, "unaddressed", "Send events that had no callback URL"),
    ];
    for (_, state, what) in replays.into_iter().filter(|(count, ..)| !count.is_zero()) {
        all.push((what, format!("guerdon event replay --provider {id} --state {state}")));
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

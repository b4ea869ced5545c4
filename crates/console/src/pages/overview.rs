//! The overview page.

use maud::{Markup, html};

use super::providers::highlight_nonzero;
use crate::alerts::{self, Alert};
use crate::components::{self, Tone};
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{Activity, ApiStatistics, EventState, Overview, Series};
use crate::numbers;
use crate::plot::{self, Layer, Plot, PlotKind, PlotSize, ValueUnit};
use crate::time_format;

const RECOGNITIONS: ValueUnit = ValueUnit::Count("recognition", "recognitions");
const REQUESTS: ValueUnit = ValueUnit::Count("request", "requests");

/// Renders what needs attention, then the statistics.
pub fn render_page(overview: &Overview, frame: &Frame) -> String {
    let main = html! {
        h1 { "Overview" }
        (alert_list(&alerts::collect_alerts(overview, frame)))
        (overview_tiles(overview, frame))
        section aria-labelledby="activity" { h2 #activity { "Activity" } (activity_plots(&overview.activity)) }
        section aria-labelledby="api" {
            h2 #api { "API" }
            @match &overview.api {
                Some(api) => (api_plots(api)),
                None => (components::empty_message("No requests yet.")),
            }
        }
        div.columns {
            section aria-labelledby="deliveries" { h2 #deliveries { "Deliveries" } (delivery_table(overview, frame)) }
            section aria-labelledby="ledger" { h2 #ledger { "Ledger" } (ledger_facts(overview, frame)) }
            section aria-labelledby="service" { h2 #service { "Service" } (service_facts(overview, frame)) }
        }
        (overview_commands(frame))
    };
    frame::render_frame(frame, PagePosition::Front(Section::Overview), "Overview", &main)
}

fn alert_list(alerts: &[Alert]) -> Markup {
    html! {
        section.attention aria-labelledby="attention" {
            h2.unseen #attention { "What needs attention" }
            @if alerts.is_empty() {
                p.well { (components::badge(Tone::Good, "well")) " Nothing needs attention." }
            } @else {
                ul.notes {
                    @for alert in alerts {
                        li class=(alert.tone.css_class()) {
                            p {
                                (components::render_prose(&alert.text))
                                @if let Some((path, label)) = &alert.link { " " a href=(path) { (label) } }
                            }
                            @if let Some(command) = alert.command { (components::command_line(command)) }
                        }
                    }
                }
            }
        }
    }
}

fn overview_tiles(overview: &Overview, frame: &Frame) -> Markup {
    let activity = &overview.activity;
    let deliveries = &overview.deliveries;
    let oldest = deliveries.oldest_pending_at.map(|created_at| (frame.now - created_at).whole_seconds());
    let requests = overview.api.as_ref().map(|api| api.requests.total());
    let errors = overview.api.as_ref().map_or_else(
        || "none counted".to_owned(),
        |api| {
            let (refused, failed) = (api.client_errors.total(), api.server_errors.total());
            format!(
                "{} with 4xx, {} with 5xx",
                numbers::format_integer(refused),
                numbers::format_integer(failed)
            )
        },
    );
    let verified = overview.ledger.last_verification.as_ref();
    let (result, verified) = match verified {
        Some(verification) if verification.violations == 0 => {
            (html! { "holds" }, time_format::format_age(frame.now, verification.ended_at))
        }
        Some(verification) => (
            components::badge(Tone::Bad, "broken"),
            time_format::format_age(frame.now, verification.ended_at),
        ),
        None => (html! { "–" }, "never verified".to_owned()),
    };
    components::tile_list(&[
        (
            "Recognitions, 24 hours",
            html! { (numbers::format_integer(activity.recognitions_by_hour.total())) },
            html! { (numbers::format_compact(activity.points_by_hour.total())) " points" },
        ),
        (
            "Requests, 24 hours",
            html! { (requests.map_or_else(|| "–".to_owned(), numbers::format_integer)) },
            html! { (errors) },
        ),
        (
            "Pending events",
            html! { (deliveries.pending) },
            html! {
                @match oldest {
                    Some(seconds) => { "oldest: " (numbers::format_seconds(seconds)) },
                    None => "nothing waits",
                }
            },
        ),
        ("Ledger", result, html! { (verified) }),
        (
            "Up",
            html! { (numbers::format_seconds((frame.now - overview.service.started_at).whole_seconds())) },
            html! { "version " (frame.version) },
        ),
    ])
}

fn activity_plots(activity: &Activity) -> Markup {
    let bars = |title, unit, series: &Series| {
        plot::render_plot(&Plot {
            size: PlotSize::Half,
            ..Plot::of_series(title, unit, PlotKind::Bars, series)
        })
    };
    html! {
        div.plots.halves {
            (bars("Recognitions by hour", RECOGNITIONS, &activity.recognitions_by_hour))
            (bars("Points by hour", ValueUnit::POINTS, &activity.points_by_hour))
            (bars("Recognitions by day", RECOGNITIONS, &activity.recognitions_by_day))
            (bars("Points by day", ValueUnit::POINTS, &activity.points_by_day))
        }
    }
}

fn api_plots(api: &ApiStatistics) -> Markup {
    let layers = vec![
        Layer { name: "with 4xx", tone: Tone::Warn, series: &api.client_errors },
        Layer { name: "with 5xx", tone: Tone::Bad, series: &api.server_errors },
    ];
    let (title, unit) = ("Errors by hour", ValueUnit::Count("error", "errors"));
    let errors = Plot { title, unit, kind: PlotKind::Bars, layers, threshold: None, size: PlotSize::Third };
    html! {
        div.plots {
            (plot::render_plot(&Plot::of_series("Requests by hour", REQUESTS, PlotKind::Bars, &api.requests)))
            (plot::render_plot(&errors))
            (plot::render_plot(&Plot::of_series("Mean latency by hour", ValueUnit::Micros, PlotKind::Mean, &api.latency)))
        }
        @if let Some(percentiles) = &api.percentiles {
            p { "Latency, 24 hours: " (components::format_percentiles(percentiles)) ". " span.soft { "Estimated from counts in buckets, within a factor of 3." } }
        }
        p.soft { (api.coverage) }
    }
}

fn delivery_table(overview: &Overview, frame: &Frame) -> Markup {
    let (deliveries, mails) = (&overview.deliveries, &overview.mails);
    let events = |state: EventState, count: Markup| {
        html! {
            tr {
                th scope="row" {
                    a href={ "/events?state=" (state.name()) } { "events " (state.name()) }
                    @if state == EventState::Delivered { ", 24 hours" }
                }
                td.number { (count) }
            }
        }
    };
    let of_mails = |what: &str, count: Markup| html! { tr { th scope="row" { "emails " (what) } td.number { (count) } } };
    let rows = html! {
        (events(EventState::Pending, html! { (deliveries.pending) }))
        (events(EventState::Delivered, html! { (numbers::format_count(deliveries.delivered)) }))
        tr { th scope="row" { "attempts, 24 hours" } td.number { (numbers::format_count(deliveries.attempts)) } }
        (events(EventState::Exhausted, highlight_nonzero(deliveries.exhausted, Tone::Bad)))
        (events(EventState::Unaddressed, highlight_nonzero(deliveries.unaddressed, Tone::Warn)))
        (of_mails("waiting", html! { (mails.waiting) }))
        (of_mails("sent", html! { (mails.sent) }))
        (of_mails("given up", highlight_nonzero(mails.given_up, Tone::Warn)))
    };
    html! {
        (components::scrollable_table("Events and emails", &components::column_headings(&["Item", "Count#"]), &rows))
        @if let Some(at) = deliveries.oldest_pending_at {
            p.soft { "The oldest pending event was created at " (time_format::render_timestamp_with_age(frame.now, at)) "." }
        }
    }
}

fn ledger_facts(overview: &Overview, frame: &Frame) -> Markup {
    let ledger = &overview.ledger;
    let seal = html! {
        @match &ledger.last_seal {
            Some(seal) => { "number " (numbers::format_count(seal.sequence)) ", " (time_format::render_timestamp_with_age(frame.now, seal.created_at)) },
            None => "none yet",
        }
    };
    let verification = html! {
        @match &ledger.last_verification {
            Some(verification) if verification.violations == 0 => { (components::badge(Tone::Good, "holds")) " " (time_format::render_timestamp_with_age(frame.now, verification.ended_at)) },
            Some(verification) => {
                (components::badge(Tone::Bad, &numbers::count_with_noun(verification.violations, "violation", "violations"))) " "
                (time_format::render_timestamp_with_age(frame.now, verification.ended_at))
            },
            None => "never",
        }
    };
    let unbalanced = ledger.unbalanced_companies;
    let mut facts = vec![
        ("Verified", verification),
        (
            "Unbalanced companies",
            html! { @if unbalanced > 0 { (components::badge(Tone::Bad, &numbers::format_count(unbalanced))) } @else { "none" } },
        ),
        ("Last seal", seal),
    ];
    if let Some(seal) = &ledger.last_seal {
        facts.push(("Its head", html! { code { (seal.head) } }));
    }
    components::fact_list(&facts)
}

fn service_facts(overview: &Overview, frame: &Frame) -> Markup {
    let service = &overview.service;
    let certificate = html! {
        @match &service.certificate {
            Some(certificate) => { "until " (time_format::render_date(certificate.last_day)) @if certificate.is_self_signed { ", self-signed" } },
            None => "none: a proxy terminates TLS",
        }
    };
    let size = service.database_bytes.map_or_else(|| "size unknown".to_owned(), numbers::format_bytes);
    components::fact_list(&[
        ("Version", html! { (frame.version) " " span.soft { "(" code { (service.commit) } ")" } }),
        ("Started", time_format::render_timestamp_with_age(frame.now, service.started_at)),
        ("Database", html! { (service.database) ", " (size) }),
        ("Certificate", certificate),
        (
            "Last prune",
            html! {
                @match &service.last_prune {
                    Some(run) => {
                        (time_format::render_timestamp_with_age(frame.now, run.ended_at)) ", deleted "
                        (run.deleted.as_deref().unwrap_or("nothing"))
                    },
                    None => "never",
                }
            },
        ),
        (
            "Last backup",
            html! {
                @match service.last_backup_at {
                    Some(at) => (time_format::render_timestamp_with_age(frame.now, at)),
                    None => "none recorded",
                }
            },
        ),
        (
            "Maintenance",
            if frame.is_in_maintenance {
                components::badge(Tone::Warn, "on")
            } else {
                html! { "off" }
            },
        ),
    ])
}

fn overview_commands(frame: &Frame) -> Markup {
    let (what, turn) = if frame.is_in_maintenance {
        ("End maintenance", "off")
    } else {
        ("Return 503 for every request; takes effect within a second", "on")
    };
    components::command_list(&[
        (what, format!("guerdon maintenance {turn}")),
        ("Recompute and check the whole ledger; changes nothing in the ledger", "guerdon verify".to_owned()),
        ("Seal the committed entries, and print the head of the hash chain", "guerdon seal".to_owned()),
        ("Show the effective settings", "guerdon config show".to_owned()),
    ])
}

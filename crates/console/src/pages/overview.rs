//! The overview page.

use maud::{Markup, html};

use super::providers::alarming;
use crate::attention::{self, Note};
use crate::frame::{self, At, Frame, Section};
use crate::model::{Activity, Api, EventState, Overview, Series};
use crate::numbers;
use crate::parts::{self, Tone};
use crate::plot::{self, Kind, Layer, Plot, Size, Unit};
use crate::times;

const RECOGNITIONS: Unit = Unit::Count("recognition", "recognitions");
const REQUESTS: Unit = Unit::Count("request", "requests");

/// Renders what needs attention, then the statistics.
pub fn page(overview: &Overview, frame: &Frame) -> String {
    let main = html! {
        h1 { "Overview" }
        (notes(&attention::notes(overview, frame)))
        (tiles(overview, frame))
        section aria-labelledby="activity" { h2 #activity { "Activity" } (activity(&overview.activity)) }
        section aria-labelledby="api" {
            h2 #api { "API" }
            @match &overview.api {
                Some(it) => (api(it)),
                None => (parts::nothing("No request has been counted yet.")),
            }
        }
        div.columns {
            section aria-labelledby="deliveries" { h2 #deliveries { "Deliveries" } (deliveries(overview, frame)) }
            section aria-labelledby="ledger" { h2 #ledger { "Ledger" } (ledger(overview, frame)) }
            section aria-labelledby="service" { h2 #service { "Service" } (service(overview, frame)) }
        }
        (commands(frame))
    };
    frame::page(frame, At::Front(Section::Overview), "Overview", &main)
}

fn notes(notes: &[Note]) -> Markup {
    html! {
        section.attention aria-labelledby="attention" {
            h2.unseen #attention { "What needs attention" }
            @if notes.is_empty() {
                p.well { (parts::badge(Tone::Good, "well")) " Nothing needs attention." }
            } @else {
                ul.notes {
                    @for note in notes {
                        li class=(note.tone.class()) {
                            p {
                                (note.text)
                                @if let Some((path, says)) = &note.link { " " a href=(path) { (says) } }
                            }
                            @if let Some(command) = note.command { (parts::line(command)) }
                        }
                    }
                }
            }
        }
    }
}

fn tiles(overview: &Overview, frame: &Frame) -> Markup {
    let activity = &overview.activity;
    let deliveries = &overview.deliveries;
    let oldest = deliveries.oldest_pending_at.map(|created_at| (frame.now - created_at).whole_seconds());
    let requests = overview.api.as_ref().map(|api| api.requests.total());
    let errors = overview.api.as_ref().map_or_else(
        || "none counted".to_owned(),
        |api| {
            let (refused, failed) = (api.client_errors.total(), api.server_errors.total());
            format!("{} answered 4xx, {} 5xx", numbers::grouped(refused), numbers::grouped(failed))
        },
    );
    let verified = overview.ledger.last_verification.as_ref();
    let (result, verified) = match verified {
        Some(it) if it.violations == 0 => (html! { "holds" }, times::ago(frame.now, it.ended_at)),
        Some(it) => (parts::badge(Tone::Bad, "broken"), times::ago(frame.now, it.ended_at)),
        None => (html! { "–" }, "never verified".to_owned()),
    };
    parts::tiles(&[
        (
            "Recognitions, 24 hours",
            html! { (numbers::grouped(activity.recognitions_by_hour.total())) },
            html! { (numbers::compact(activity.points_by_hour.total())) " points" },
        ),
        (
            "Requests, 24 hours",
            html! { (requests.map_or_else(|| "–".to_owned(), numbers::grouped)) },
            html! { (errors) },
        ),
        (
            "Events that wait",
            html! { (deliveries.pending) },
            html! {
                @match oldest {
                    Some(seconds) => { "the oldest for " (numbers::seconds(seconds)) },
                    None => "nothing waits",
                }
            },
        ),
        ("Ledger", result, html! { (verified) }),
        (
            "Up",
            html! { (numbers::seconds((frame.now - overview.service.started_at).whole_seconds())) },
            html! { "version " (frame.version) },
        ),
    ])
}

fn activity(activity: &Activity) -> Markup {
    let bars = |title, unit, series: &Series| {
        plot::figure(&Plot { size: Size::Half, ..Plot::of(title, unit, Kind::Bars, series) })
    };
    html! {
        div.plots.halves {
            (bars("Recognitions by hour", RECOGNITIONS, &activity.recognitions_by_hour))
            (bars("Points by hour", Unit::POINTS, &activity.points_by_hour))
            (bars("Recognitions by day", RECOGNITIONS, &activity.recognitions_by_day))
            (bars("Points by day", Unit::POINTS, &activity.points_by_day))
        }
    }
}

fn api(api: &Api) -> Markup {
    let layers = vec![
        Layer { name: "answered 4xx", tone: Tone::Warn, series: &api.client_errors },
        Layer { name: "answered 5xx", tone: Tone::Bad, series: &api.server_errors },
    ];
    let (title, unit) = ("Errors by hour", Unit::Count("error", "errors"));
    let errors = Plot { title, unit, kind: Kind::Bars, layers, threshold: None, size: Size::Third };
    html! {
        div.plots {
            (plot::figure(&Plot::of("Requests by hour", REQUESTS, Kind::Bars, &api.requests)))
            (plot::figure(&errors))
            (plot::figure(&Plot::of("Mean latency by hour", Unit::Micros, Kind::Mean, &api.latency)))
        }
        p.soft { (api.counted) }
    }
}

fn deliveries(overview: &Overview, frame: &Frame) -> Markup {
    let (it, mails) = (&overview.deliveries, &overview.mails);
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
    let of_mails =
        |what: &str, count: Markup| html! { tr { th scope="row" { "mails " (what) } td.number { (count) } } };
    let rows = html! {
        (events(EventState::Pending, html! { (it.pending) }))
        (events(EventState::Delivered, html! { (numbers::counted(it.delivered)) }))
        (events(EventState::Exhausted, alarming(it.exhausted, Tone::Bad)))
        (events(EventState::Unaddressed, alarming(it.unaddressed, Tone::Warn)))
        (of_mails("waiting", html! { (mails.waiting) }))
        (of_mails("sent", html! { (mails.sent) }))
        (of_mails("given up", alarming(mails.given_up, Tone::Warn)))
    };
    html! {
        (parts::table("Events and mails", &parts::headings(&["What", "How many#"]), &rows))
        @if let Some(at) = it.oldest_pending_at {
            p.soft { "The oldest event that waits is of " (times::moment_ago(frame.now, at)) "." }
        }
    }
}

fn ledger(overview: &Overview, frame: &Frame) -> Markup {
    let ledger = &overview.ledger;
    let seal = html! {
        @match &ledger.last_seal {
            Some(it) => { "number " (numbers::counted(it.sequence)) ", " (times::moment_ago(frame.now, it.created_at)) },
            None => "none yet",
        }
    };
    let verification = html! {
        @match &ledger.last_verification {
            Some(it) if it.violations == 0 => { (parts::badge(Tone::Good, "holds")) " " (times::moment_ago(frame.now, it.ended_at)) },
            Some(it) => {
                (parts::badge(Tone::Bad, &numbers::of(it.violations, "broken invariant", "broken invariants"))) " "
                (times::moment_ago(frame.now, it.ended_at))
            },
            None => "never",
        }
    };
    let unbalanced = ledger.unbalanced_companies;
    let mut facts = vec![
        ("Verified", verification),
        (
            "Unbalanced companies",
            html! { @if unbalanced > 0 { (parts::badge(Tone::Bad, &numbers::counted(unbalanced))) } @else { "none" } },
        ),
        ("Last seal", seal),
    ];
    if let Some(seal) = &ledger.last_seal {
        facts.push(("Its head", html! { code { (seal.head) } }));
    }
    parts::facts(&facts)
}

fn service(overview: &Overview, frame: &Frame) -> Markup {
    let service = &overview.service;
    let certificate = html! {
        @match &service.certificate {
            Some(it) => { "until " (times::dated(it.last_day)) @if it.is_self_signed { ", self-signed" } },
            None => "none: a proxy ends TLS",
        }
    };
    let size = service.database_bytes.map_or_else(|| "size unknown".to_owned(), numbers::bytes);
    parts::facts(&[
        ("Version", html! { (frame.version) " " span.soft { "(" code { (service.commit) } ")" } }),
        ("Started", times::moment_ago(frame.now, service.started_at)),
        ("Database", html! { (service.database) ", " (size) }),
        ("Certificate", certificate),
        (
            "Maintenance",
            if frame.is_in_maintenance {
                parts::badge(Tone::Warn, "on")
            } else {
                html! { "off" }
            },
        ),
    ])
}

fn commands(frame: &Frame) -> Markup {
    let (what, turn) = if frame.is_in_maintenance {
        ("End maintenance", "off")
    } else {
        ("Answer every request 503, within a second", "on")
    };
    parts::commands(&[
        (what, format!("guerdon maintenance {turn}")),
        ("Reckon the whole ledger anew; it changes nothing", "guerdon verify".to_owned()),
        ("Seal what is committed, and print the head of the chain", "guerdon seal".to_owned()),
        ("Show the settings in force", "guerdon config show".to_owned()),
    ])
}

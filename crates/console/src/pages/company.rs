//! The page of one company.

use maud::{Markup, html};

use super::audit;
use super::schedules;
use crate::frame::{self, At, Frame, Section};
use crate::model::Company;
use crate::numbers;
use crate::parts::{self, Tone};
use crate::plot::{self, Kind, Plot, Size, Threshold, Unit};
use crate::query::Query;
use crate::times;

/// The periods for which the reserve can be shown, in days.
const SPANS: [usize; 2] = [30, 90];

/// Renders the company. `?days=90` shows more history of the reserve.
pub fn page(company: &Company, query: &Query, frame: &Frame) -> String {
    let main = html! {
        h1 { (company.name) }
        p.subtitle { (company.domain) ", of " (parts::provider(&company.provider)) }
        @if company.reserve.is_low() {
            ul.notes { li.warn {
                p { "The reserve is below its threshold. The administrators were told, once." }
                (parts::line(&deposit(company)))
            } }
        }
        (figures(company))
        section aria-labelledby="reserve" {
            h2 #reserve { "Reserve" }
            (reserve(company, query))
        }
        div.columns {
            section aria-labelledby="circulation" {
                h2 #circulation { "Points in circulation" }
                (circulation(company))
            }
            section aria-labelledby="occasions" {
                h2 #occasions { "Occasions, 30 days" }
                (occasions(company))
            }
        }
        section aria-labelledby="schedules" {
            h2 #schedules { "Schedules" }
            @if company.schedules.is_empty() { (parts::nothing("Nothing is distributed on a schedule.")) }
            @else { (schedules::table_of_one(&company.schedules, frame.now)) }
        }
        section aria-labelledby="audit" {
            h2 #audit { "Latest actions" }
            @if company.audit.is_empty() { (parts::nothing("Nothing was done yet.")) }
            @else {
                (audit::table(&company.audit, false))
                p { a href=(Query::default().with("company", &company.id).link("/audit")) { "All actions of this company" } }
            }
        }
        section aria-labelledby="facts" { h2 #facts { "Facts" } (facts(company, frame)) }
        (commands(company))
    };
    frame::page(frame, At::Below(Section::Companies), &company.name, &main)
}

fn deposit(company: &Company) -> String {
    format!("guerdon reserve deposit {} --points 100000 --key KEY", company.id)
}

fn figures(company: &Company) -> Markup {
    let reserve = &company.reserve;
    let circulating = company.circulation.iter().map(|wallet| wallet.points).fold(0, i64::saturating_add);
    parts::tiles(&[
        (
            "Reserve",
            html! { (numbers::grouped(reserve.points)) },
            html! { "points, $" (reserve.dollars) @if reserve.is_low() { " " (parts::badge(Tone::Warn, "low")) } },
        ),
        ("In circulation", html! { (numbers::grouped(circulating)) }, html! { "points in open wallets" }),
        ("Users", html! { (numbers::counted(company.users)) }, html! { "that are not deleted" }),
        ("Recognitions", html! { (numbers::counted(company.recognitions_30d)) }, html! { "in 30 days" }),
    ])
}

fn reserve(company: &Company, query: &Query) -> Markup {
    let asked = query.get("days").and_then(|days| days.parse().ok());
    let days = SPANS.into_iter().find(|days| Some(*days) == asked).unwrap_or(30);
    let series = company.reserve_by_day.newest(days);
    let title = format!("Reserve by day, {days} days");
    let threshold = company.reserve.alert_below.map(|value| Threshold { name: "alert below", value });
    let plot = Plot { threshold, size: Size::Whole, ..Plot::of(&title, Unit::POINTS, Kind::Level, &series) };
    let path = format!("/companies/{}", company.id);
    html! {
        ul.choice aria-label="Days" {
            @for span in SPANS {
                @let link = query.with("days", &span.to_string()).link(&path);
                li { a href={ (link) "#reserve" } aria-current=[(span == days).then_some("true")] { (span) " days" } }
            }
        }
        (plot::figure(&plot))
    }
}

fn circulation(company: &Company) -> Markup {
    if company.circulation.is_empty() {
        return parts::nothing("No wallet is open.");
    }
    let rows = html! {
        @for it in &company.circulation {
            tr {
                th scope="row" { (parts::wallet(&it.wallet)) }
                td.number { (numbers::grouped(it.points)) }
                td.number { (it.dollars) }
            }
        }
    };
    parts::table("Points in circulation", &parts::headings(&["Wallet", "Points#", "Dollars#"]), &rows)
}

fn occasions(company: &Company) -> Markup {
    if company.occasions.is_empty() {
        return parts::nothing("No recognition was sent.");
    }
    let rows = html! {
        @for it in &company.occasions {
            tr {
                th.name scope="row" { (it.name) }
                td.number { (numbers::counted(it.recognitions)) }
                td.number { (numbers::grouped(it.points)) }
            }
        }
    };
    parts::table("Occasions", &parts::headings(&["Occasion", "Recognitions#", "Points#"]), &rows)
}

fn facts(company: &Company, frame: &Frame) -> Markup {
    let alert = company.reserve.alert_below.map_or("never".to_owned(), |threshold| {
        format!("when the reserve falls below {}", numbers::of(threshold.unsigned_abs(), "point", "points"))
    });
    parts::facts(&[
        ("Id", html! { code { (company.id) } }),
        ("Domain", html! { (company.domain) }),
        ("Provider", parts::provider(&company.provider)),
        ("Rate", html! { (numbers::grouped(i64::from(company.points_per_dollar))) " points for a dollar" }),
        ("Administrators are told", html! { (alert) }),
        (
            "Recognitions of 0 points",
            html! { (if company.allow_zero_points { "allowed" } else { "not allowed" }) },
        ),
        ("Made", times::moment_ago(frame.now, company.created_at)),
    ])
}

fn commands(company: &Company) -> Markup {
    let id = &company.id;
    let zero = !company.allow_zero_points;
    parts::commands(&[
        ("Put points into the reserve", deposit(company)),
        (
            "Give points to every active user",
            format!("guerdon distribution run {id} --wallet peer_wallet --points 500 --key KEY"),
        ),
        (
            "Give them every month",
            format!(
                "guerdon distribution schedule {id} --wallet peer_wallet --points 500 --every month --start YYYY-MM-DD"
            ),
        ),
        (
            if zero { "Allow recognitions of 0 points" } else { "Forbid recognitions of 0 points" },
            format!("guerdon company options {id} --allow-zero-points {zero}"),
        ),
        ("Hand it to another provider", format!("guerdon company transfer {id} --to PROVIDER_ID")),
        ("List its users", format!("guerdon user list --company {id}")),
    ])
}

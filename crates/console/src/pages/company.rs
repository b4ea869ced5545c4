//! The page of one company.

use maud::{Markup, html};

use super::audit;
use super::schedules;
use crate::components::{self, Tone};
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::Company;
use crate::numbers;
use crate::plot::{self, Plot, PlotKind, PlotSize, Threshold, ValueUnit};
use crate::query::Query;
use crate::time_format;

/// The periods for which the reserve can be shown, in days.
const RESERVE_PERIODS_DAYS: [usize; 2] = [30, 90];

/// Renders the company. `?days=90` shows more history of the reserve.
pub fn render_page(company: &Company, query: &Query, frame: &Frame) -> String {
    let main = html! {
        h1 { (company.name) }
        p.subtitle { (company.domain) ", of " (components::provider_link(&company.provider)) }
        @if company.reserve.is_low() {
            ul.notes { li.warn {
                p { "The reserve is below its threshold. The administrators were notified once." }
                (components::command_line(&deposit_command(company)))
            } }
        }
        (company_tiles(company))
        section aria-labelledby="reserve" {
            h2 #reserve { "Reserve" }
            (reserve_plot(company, query))
        }
        div.columns {
            section aria-labelledby="circulation" {
                h2 #circulation { "Points in circulation" }
                (circulation_table(company))
            }
            section aria-labelledby="occasions" {
                h2 #occasions { "Occasions, 30 days" }
                (occasion_table(company))
            }
        }
        section aria-labelledby="schedules" {
            h2 #schedules { "Schedules" }
            @if company.schedules.is_empty() { (components::empty_message("No distribution is scheduled.")) }
            @else { (schedules::company_schedule_table(&company.schedules, frame.now)) }
        }
        section aria-labelledby="audit" {
            h2 #audit { "Latest actions" }
            @if company.audit.is_empty() { (components::empty_message("No action has been recorded.")) }
            @else {
                (audit::entry_table(&company.audit, false))
                p { a href=(Query::default().with_parameter("company", &company.id).to_link("/audit")) { "All actions of this company" } }
            }
        }
        section aria-labelledby="facts" { h2 #facts { "Facts" } (company_facts(company, frame)) }
        (company_commands(company))
    };
    frame::render_frame(frame, PagePosition::Below(Section::Companies), &company.name, &main)
}

fn deposit_command(company: &Company) -> String {
    format!("guerdon reserve deposit {} --points 100000 --key KEY", company.id)
}

fn company_tiles(company: &Company) -> Markup {
    let reserve = &company.reserve;
    let circulating = company.circulation.iter().map(|wallet| wallet.points).fold(0, i64::saturating_add);
    components::tile_list(&[
        (
            "Reserve",
            html! { (numbers::format_integer(reserve.points)) },
            html! { "points, $" (reserve.dollars) @if reserve.is_low() { " " (components::badge(Tone::Warn, "low")) } },
        ),
        (
            "In circulation",
            html! { (numbers::format_integer(circulating)) },
            html! { "points in active wallets" },
        ),
        ("Users", html! { (numbers::format_count(company.users)) }, html! { "that are not deleted" }),
        ("Recognitions", html! { (numbers::format_count(company.recognitions_30d)) }, html! { "in 30 days" }),
    ])
}

fn reserve_plot(company: &Company, query: &Query) -> Markup {
    let requested = query.get("days").and_then(|days| days.parse().ok());
    let days = RESERVE_PERIODS_DAYS.into_iter().find(|days| Some(*days) == requested).unwrap_or(30);
    let series = company.reserve_by_day.newest_buckets(days);
    let title = format!("Reserve by day, {days} days");
    let threshold = company.reserve.alert_below.map(|value| Threshold { name: "alert below", value });
    let plot = Plot {
        threshold,
        size: PlotSize::Whole,
        ..Plot::of_series(&title, ValueUnit::POINTS, PlotKind::Level, &series)
    };
    let path = format!("/companies/{}", company.id);
    html! {
        ul.choice aria-label="Days" {
            @for span in RESERVE_PERIODS_DAYS {
                @let link = query.with_parameter("days", &span.to_string()).to_link(&path);
                li { a href={ (link) "#reserve" } aria-current=[(span == days).then_some("true")] { (span) " days" } }
            }
        }
        (plot::render_plot(&plot))
    }
}

fn circulation_table(company: &Company) -> Markup {
    if company.circulation.is_empty() {
        return components::empty_message("There are no active wallets.");
    }
    let rows = html! {
        @for wallet in &company.circulation {
            tr {
                th scope="row" { (components::wallet_label(&wallet.wallet)) }
                td.number { (numbers::format_integer(wallet.points)) }
                td.number { (wallet.dollars) }
            }
        }
    };
    components::scrollable_table(
        "Points in circulation",
        &components::column_headings(&["Wallet", "Points#", "Dollars#"]),
        &rows,
    )
}

fn occasion_table(company: &Company) -> Markup {
    if company.occasions.is_empty() {
        return components::empty_message("No recognitions were sent.");
    }
    let rows = html! {
        @for occasion in &company.occasions {
            tr {
                th.name scope="row" { (occasion.name) }
                td.number { (numbers::format_count(occasion.recognitions)) }
                td.number { (numbers::format_integer(occasion.points)) }
            }
        }
    };
    components::scrollable_table(
        "Occasions",
        &components::column_headings(&["Occasion", "Recognitions#", "Points#"]),
        &rows,
    )
}

fn company_facts(company: &Company, frame: &Frame) -> Markup {
    let mut facts = vec![
        ("Id", html! { code { (company.id) } }),
        ("Domain", html! { (company.domain) }),
        ("Provider", components::provider_link(&company.provider)),
    ];
    facts.extend(company.facts.iter().map(|(label, value)| (*label, html! { (value) })));
    facts.push(("Created", time_format::render_timestamp_with_age(frame.now, company.created_at)));
    components::fact_list(&facts)
}

fn company_commands(company: &Company) -> Markup {
    let id = &company.id;
    let zero = !company.allow_zero_points;
    components::command_list(&[
        ("Deposit points into the reserve", deposit_command(company)),
        (
            "Distribute points to every active user",
            format!("guerdon distribution run {id} --wallet peer_wallet --points 500 --key KEY"),
        ),
        (
            "Distribute them every month",
            format!(
                "guerdon distribution schedule {id} --wallet peer_wallet --points 500 --every month --start YYYY-MM-DD"
            ),
        ),
        (
            if zero { "Allow recognitions of 0 points" } else { "Forbid recognitions of 0 points" },
            format!("guerdon company options {id} --allow-zero-points {zero}"),
        ),
        ("Transfer it to another provider", format!("guerdon company transfer {id} --to PROVIDER_ID")),
        ("List its users", format!("guerdon user list --company {id}")),
    ])
}

//! The same values in words and as a table, for readers who do not use the plot.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::{Kind, Plot};
use crate::model::{Point, Series, Step};
use crate::parts;
use crate::times;

/// Summarizes a plot in one or two sentences: total and maximum for bars, the current value and the range for a level,
/// the range for a mean.
pub(super) fn summary(plot: &Plot<'_>) -> String {
    let Some(series) = plot.layers.first().map(|layer| layer.series) else { return String::new() };
    let tops = plot.tops();
    let known = || series.points.iter().zip(&tops).filter_map(|(point, top)| Some((point, (*top)?)));
    // Of equal values, the newest.
    let most = known().max_by_key(|(_, value)| *value);
    let least = known().rev().min_by_key(|(_, value)| *value);
    let (Some(most), Some(least)) = (most, least) else { return "No figures.".to_owned() };
    let told =
        |(point, value): (&Point, i64)| format!("{} {}", plot.unit.exact(value), when(series.step, point.at));
    match plot.kind {
        Kind::Bars => {
            let total = known().map(|(_, value)| value).fold(0, i64::saturating_add);
            if total == 0 {
                return format!("{} {}.", plot.unit.exact(0), span(series));
            }
            format!("{} {}, at most {}.", plot.unit.exact(total), span(series), told(most))
        }
        Kind::Level => {
            let now = known().next_back().map_or(0, |(_, value)| value);
            format!("Now {}. Least {}, most {}.", plot.unit.exact(now), told(least), told(most))
        }
        Kind::Mean => format!("Least {}, most {}.", told(least), told(most)),
    }
}

fn span(series: &Series) -> String {
    let (one, many) = match series.step {
        Step::Hour => ("hour", "hours"),
        Step::Day => ("day", "days"),
    };
    match series.points.len() {
        1 => format!("in this {one}"),
        count => format!("in {count} {many}"),
    }
}

fn when(step: Step, at: OffsetDateTime) -> String {
    match step {
        Step::Hour => format!("at {}", times::hour(at)),
        Step::Day => format!("on {}", times::day(at)),
    }
}

/// Describes one bucket: `20 Nov 14:00: 612 recognitions`.
pub(super) fn bucket(plot: &Plot<'_>, number: usize, at: OffsetDateTime) -> String {
    let values =
        plot.layers.iter().map(|layer| match layer.series.points.get(number).and_then(|point| point.value) {
            Some(value) if layer.name.is_empty() => plot.unit.exact(value),
            Some(value) => format!("{}: {}", layer.name, plot.unit.exact(value)),
            None => "nothing known".to_owned(),
        });
    let step = plot.layers.first().map_or(Step::Day, |layer| layer.series.step);
    let so_far = if is_under_way(plot, number) { ", so far" } else { "" };
    format!("{}: {}{so_far}", begin(step, at), values.collect::<Vec<_>>().join(", "))
}

/// Whether a bucket is still in progress.
fn is_under_way(plot: &Plot<'_>, number: usize) -> bool {
    plot.kind == Kind::Bars && number + 1 == plot.tops().len()
}

fn begin(step: Step, at: OffsetDateTime) -> String {
    match step {
        Step::Hour => format!("{} {}", times::day(at), times::hour(at)),
        Step::Day => times::day(at),
    }
}

/// Renders the meaning and the total of each colour; nothing for a single layer.
pub(super) fn legend(plot: &Plot<'_>) -> Markup {
    let is_needed = plot.layers.len() > 1 || plot.threshold.is_some();
    html! {
        @if is_needed {
            ul.legend {
                @for layer in plot.layers.iter().filter(|layer| !layer.name.is_empty()) {
                    li {
                        span class={ "swatch " (layer.tone.class()) } aria-hidden="true" {}
                        (layer.name)
                        @if plot.kind == Kind::Bars { ": " (plot.unit.exact(layer.series.total())) }
                    }
                }
                @if let Some(threshold) = &plot.threshold {
                    li {
                        span.swatch.dashed aria-hidden="true" {}
                        (threshold.name) " " (plot.unit.exact(threshold.value))
                    }
                }
            }
        }
    }
}

/// Renders a table of all values, newest first.
pub(super) fn details(plot: &Plot<'_>) -> Markup {
    let Some(series) = plot.layers.first().map(|layer| layer.series) else { return html! {} };
    let head = html! {
        th scope="col" { (match series.step { Step::Hour => "Hour", Step::Day => "Day" }) }
        @for layer in &plot.layers {
            th.number scope="col" { @if layer.name.is_empty() { "Figure" } @else { (layer.name) } }
        }
    };
    let rows = html! {
        @for (number, point) in series.points.iter().enumerate().rev() {
            tr {
                th scope="row" { (begin(series.step, point.at)) @if is_under_way(plot, number) { ", so far" } }
                @for layer in &plot.layers {
                    td.number { (figure(plot, layer.series.points.get(number).and_then(|point| point.value))) }
                }
            }
        }
    };
    html! {
        details {
            summary { "All figures" span.unseen { " of " (plot.title) } }
            (parts::table(plot.title, &head, &rows))
        }
    }
}

fn figure(plot: &Plot<'_>, value: Option<i64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| plot.unit.bare(value))
}

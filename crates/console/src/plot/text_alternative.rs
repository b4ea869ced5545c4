//! The values of a plot in words and as a table, for readers who do not use the drawing.

use maud::{Markup, html};
use time::OffsetDateTime;

use super::{Plot, PlotKind};
use crate::components;
use crate::model::{BucketSize, Point, Series};
use crate::time_format;

/// Summarizes a plot in one or two sentences: total and maximum for bars, the current value and the range for a level,
/// the range for a mean.
pub(super) fn summarize_plot(plot: &Plot<'_>) -> String {
    let Some(series) = plot.layers.first().map(|layer| layer.series) else { return String::new() };
    let tops = plot.bucket_totals();
    let known = || series.points.iter().zip(&tops).filter_map(|(point, top)| Some((point, (*top)?)));
    // If several values are equal, the newest is taken.
    let highest = known().max_by_key(|(_, value)| *value);
    let lowest = known().rev().min_by_key(|(_, value)| *value);
    let (Some(highest), Some(lowest)) = (highest, lowest) else { return "No data.".to_owned() };
    let describe = |(point, value): (&Point, i64)| {
        format!("{} {}", plot.unit.format_exact(value), describe_time(series.bucket_size, point.at))
    };
    match plot.kind {
        PlotKind::Bars => {
            let total = known().map(|(_, value)| value).fold(0, i64::saturating_add);
            if total == 0 {
                return format!("{} {}.", plot.unit.format_exact(0), describe_period(series));
            }
            format!(
                "{} {}, at most {}.",
                plot.unit.format_exact(total),
                describe_period(series),
                describe(highest)
            )
        }
        PlotKind::Level => {
            let now = known().next_back().map_or(0, |(_, value)| value);
            format!(
                "Now {}. Minimum {}, maximum {}.",
                plot.unit.format_exact(now),
                describe(lowest),
                describe(highest)
            )
        }
        PlotKind::Mean => format!("Minimum {}, maximum {}.", describe(lowest), describe(highest)),
    }
}

fn describe_period(series: &Series) -> String {
    let (one, many) = match series.bucket_size {
        BucketSize::Hour => ("hour", "hours"),
        BucketSize::Day => ("day", "days"),
    };
    match series.points.len() {
        1 => format!("in this {one}"),
        count => format!("in {count} {many}"),
    }
}

fn describe_time(step: BucketSize, at: OffsetDateTime) -> String {
    match step {
        BucketSize::Hour => format!("at {}", time_format::format_hour(at)),
        BucketSize::Day => format!("on {}", time_format::format_day(at)),
    }
}

/// Describes one bucket: `20 Nov 14:00: 612 recognitions`.
pub(super) fn describe_bucket(plot: &Plot<'_>, number: usize, at: OffsetDateTime) -> String {
    let values =
        plot.layers.iter().map(|layer| match layer.series.points.get(number).and_then(|point| point.value) {
            Some(value) if layer.name.is_empty() => plot.unit.format_exact(value),
            Some(value) => format!("{}: {}", layer.name, plot.unit.format_exact(value)),
            None => "no data".to_owned(),
        });
    let step = plot.layers.first().map_or(BucketSize::Day, |layer| layer.series.bucket_size);
    let suffix = if is_in_progress(plot, number) { ", so far" } else { "" };
    format!("{}: {}{suffix}", bucket_label(step, at), values.collect::<Vec<_>>().join(", "))
}

/// Whether a bucket is still in progress.
fn is_in_progress(plot: &Plot<'_>, number: usize) -> bool {
    plot.kind == PlotKind::Bars && number + 1 == plot.bucket_totals().len()
}

fn bucket_label(step: BucketSize, at: OffsetDateTime) -> String {
    match step {
        BucketSize::Hour => format!("{} {}", time_format::format_day(at), time_format::format_hour(at)),
        BucketSize::Day => time_format::format_day(at),
    }
}

/// Renders the meaning and the total of each colour; nothing for a single layer.
pub(super) fn render_legend(plot: &Plot<'_>) -> Markup {
    let is_needed = plot.layers.len() > 1 || plot.threshold.is_some();
    html! {
        @if is_needed {
            ul.legend {
                @for layer in plot.layers.iter().filter(|layer| !layer.name.is_empty()) {
                    li {
                        span class={ "swatch " (layer.tone.css_class()) } aria-hidden="true" {}
                        (layer.name)
                        @if plot.kind == PlotKind::Bars { ": " (plot.unit.format_exact(layer.series.total())) }
                    }
                }
                @if let Some(threshold) = &plot.threshold {
                    li {
                        span.swatch.dashed aria-hidden="true" {}
                        (threshold.name) " " (plot.unit.format_exact(threshold.value))
                    }
                }
            }
        }
    }
}

/// Renders a table of all values, newest first.
pub(super) fn render_value_table(plot: &Plot<'_>) -> Markup {
    let Some(series) = plot.layers.first().map(|layer| layer.series) else { return html! {} };
    let head = html! {
        th scope="col" { (match series.bucket_size { BucketSize::Hour => "Hour", BucketSize::Day => "Day" }) }
        @for layer in &plot.layers {
            th.number scope="col" { @if layer.name.is_empty() { "Value" } @else { (layer.name) } }
        }
    };
    let rows = html! {
        @for (number, point) in series.points.iter().enumerate().rev() {
            tr {
                th scope="row" { (bucket_label(series.bucket_size, point.at)) @if is_in_progress(plot, number) { ", so far" } }
                @for layer in &plot.layers {
                    td.number { (format_value(plot, layer.series.points.get(number).and_then(|point| point.value))) }
                }
            }
        }
    };
    html! {
        details {
            summary { "All values" span.unseen { " of " (plot.title) } }
            (components::scrollable_table(plot.title, &head, &rows))
        }
    }
}

fn format_value(plot: &Plot<'_>, value: Option<i64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| plot.unit.format_bare(value))
}

//! Bars and lines.

use maud::{Markup, html};

use super::axes::{Axes, format_coordinate};
use super::scale::Scale;
use super::{Layer, Plot, text_alternative};

/// The maximum width of a bar, so that a single one does not fill the plot.
const BAR_MAX: f64 = 36.0;
/// The minimum height of a value other than 0, so that it is visible.
const BAR_MIN: f64 = 1.5;

/// Renders a bar per bucket, with the first layer at the bottom. The last bucket is paler because it is still in
/// progress.
pub(super) fn render_bars(plot: &Plot<'_>, axes: &Axes, scale: &Scale) -> Markup {
    let count = plot.bucket_totals().len();
    html! {
        @for number in 0..count {
            @let (middle, slot) = axes.bucket_slot(number, count);
            @let width = (slot * 0.74).min(BAR_MAX);
            @for (tone, from, to) in stack_segments(plot, number) {
                @let (foot, top) = (axes.y_position(scale, from), axes.y_position(scale, to));
                @let height = (foot - top).abs().max(BAR_MIN);
                rect class={ "fill " (tone) @if number + 1 == count { " open" } } x=(format_coordinate(middle - width / 2.0)) y=(format_coordinate(foot.max(top) - height))
                    width=(format_coordinate(width)) height=(format_coordinate(height)) {}
            }
        }
    }
}

/// Returns the segments of a bucket's bar: tone, start and end.
fn stack_segments(plot: &Plot<'_>, number: usize) -> Vec<(&'static str, i64, i64)> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for layer in &plot.layers {
        let value = layer.series.points.get(number).and_then(|point| point.value).unwrap_or(0);
        let to = i64::saturating_add(from, value);
        if value != 0 {
            pieces.push((layer.tone.css_class(), from, to));
        }
        from = to;
    }
    pieces
}

/// Renders a line per layer, with a dot at its newest value.
pub(super) fn render_lines(plot: &Plot<'_>, axes: &Axes, scale: &Scale) -> Markup {
    html! {
        @for layer in &plot.layers {
            @let runs = split_at_gaps(layer, axes, scale);
            @for (number, run) in runs.iter().enumerate() {
                @if let [first, .., last] = run.as_slice() {
                    @let path: Vec<String> = run.iter().map(|(x, y)| format!("{},{}", format_coordinate(*x), format_coordinate(*y))).collect();
                    @let foot = format_coordinate(axes.y_position(scale, 0));
                    polygon class={ "area " (layer.tone.css_class()) }
                        points={ (format_coordinate(first.0)) "," (foot) " " (path.join(" ")) " " (format_coordinate(last.0)) "," (foot) } {}
                    polyline class={ "stroke " (layer.tone.css_class()) } points=(path.join(" ")) {}
                }
                // A single point has no line and needs a dot to be visible.
                @if let (Some((x, y)), true) = (run.last(), run.len() == 1 || number + 1 == runs.len()) {
                    circle class={ "fill " (layer.tone.css_class()) } cx=(format_coordinate(*x)) cy=(format_coordinate(*y)) r="2.5" {}
                }
            }
        }
    }
}

/// Returns the pieces of a line between buckets without a value.
fn split_at_gaps(layer: &Layer<'_>, axes: &Axes, scale: &Scale) -> Vec<Vec<(f64, f64)>> {
    let points = &layer.series.points;
    let mut runs = vec![Vec::new()];
    for (number, point) in points.iter().enumerate() {
        match (point.value, runs.last_mut()) {
            (Some(value), Some(run)) => {
                let (x, _) = axes.bucket_slot(number, points.len());
                run.push((x, axes.y_position(scale, value)));
            }
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Renders the tooltips: an invisible area with a title over each bucket.
pub(super) fn render_tooltips(plot: &Plot<'_>, axes: &Axes) -> Markup {
    let Some(first) = plot.layers.first() else { return html! {} };
    let (count, (top, bottom)) = (first.series.points.len(), axes.vertical_range());
    html! {
        @for (number, point) in first.series.points.iter().enumerate() {
            @let (middle, slot) = axes.bucket_slot(number, count);
            rect.hover x=(format_coordinate(middle - slot / 2.0)) y=(format_coordinate(top)) width=(format_coordinate(slot)) height=(format_coordinate(bottom - top)) {
                title { (text_alternative::describe_bucket(plot, number, point.at)) }
            }
        }
    }
}

//! Bars and lines.

use maud::{Markup, html};

use super::axes::{Axes, at};
use super::scale::Scale;
use super::{Layer, Plot, words};

/// The maximum width of a bar, so that a single one does not fill the plot.
const BAR_MAX: f64 = 36.0;
/// The minimum height of a value other than 0, so that it is visible.
const BAR_MIN: f64 = 1.5;

/// Renders a bar per bucket, with the first layer at the bottom. The last bucket is paler because it is still in
/// progress.
pub(super) fn bars(plot: &Plot<'_>, axes: &Axes, scale: &Scale) -> Markup {
    let count = plot.tops().len();
    html! {
        @for number in 0..count {
            @let (middle, slot) = axes.bucket(number, count);
            @let width = (slot * 0.74).min(BAR_MAX);
            @for (tone, from, to) in stacked(plot, number) {
                @let (foot, top) = (axes.y(scale, from), axes.y(scale, to));
                @let height = (foot - top).abs().max(BAR_MIN);
                rect class={ "fill " (tone) @if number + 1 == count { " open" } } x=(at(middle - width / 2.0)) y=(at(foot.max(top) - height))
                    width=(at(width)) height=(at(height)) {}
            }
        }
    }
}

/// Returns the segments of a bucket's bar: tone, start and end.
fn stacked(plot: &Plot<'_>, number: usize) -> Vec<(&'static str, i64, i64)> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for layer in &plot.layers {
        let value = layer.series.points.get(number).and_then(|point| point.value).unwrap_or(0);
        let to = i64::saturating_add(from, value);
        if value != 0 {
            pieces.push((layer.tone.class(), from, to));
        }
        from = to;
    }
    pieces
}

/// Renders a line per layer, with a dot at its newest value.
pub(super) fn lines(plot: &Plot<'_>, axes: &Axes, scale: &Scale) -> Markup {
    html! {
        @for layer in &plot.layers {
            @let runs = runs(layer, axes, scale);
            @for (number, run) in runs.iter().enumerate() {
                @if let [first, .., last] = run.as_slice() {
                    @let path: Vec<String> = run.iter().map(|(x, y)| format!("{},{}", at(*x), at(*y))).collect();
                    @let foot = at(axes.y(scale, 0));
                    polygon class={ "area " (layer.tone.class()) }
                        points={ (at(first.0)) "," (foot) " " (path.join(" ")) " " (at(last.0)) "," (foot) } {}
                    polyline class={ "stroke " (layer.tone.class()) } points=(path.join(" ")) {}
                }
                // A single point has no line and needs a dot to be visible.
                @if let (Some((x, y)), true) = (run.last(), run.len() == 1 || number + 1 == runs.len()) {
                    circle class={ "fill " (layer.tone.class()) } cx=(at(*x)) cy=(at(*y)) r="2.5" {}
                }
            }
        }
    }
}

/// Returns the pieces of a line between buckets without a value.
fn runs(layer: &Layer<'_>, axes: &Axes, scale: &Scale) -> Vec<Vec<(f64, f64)>> {
    let points = &layer.series.points;
    let mut runs = vec![Vec::new()];
    for (number, point) in points.iter().enumerate() {
        match (point.value, runs.last_mut()) {
            (Some(value), Some(run)) => {
                let (x, _) = axes.bucket(number, points.len());
                run.push((x, axes.y(scale, value)));
            }
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Renders the tooltips: an invisible area with a title over each bucket.
pub(super) fn labels(plot: &Plot<'_>, axes: &Axes) -> Markup {
    let Some(first) = plot.layers.first() else { return html! {} };
    let (count, (top, bottom)) = (first.series.points.len(), axes.span());
    html! {
        @for (number, point) in first.series.points.iter().enumerate() {
            @let (middle, slot) = axes.bucket(number, count);
            rect.hover x=(at(middle - slot / 2.0)) y=(at(top)) width=(at(slot)) height=(at(bottom - top)) {
                title { (words::bucket(plot, number, point.at)) }
            }
        }
    }
}

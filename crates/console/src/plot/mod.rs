//! Plots of values over time: bars for counts, a line for measurements, each with a summary in words and a table.

mod axes;
mod scale;
mod shapes;
mod words;

use maud::{Markup, html};

use self::axes::Axes;
use self::scale::Scale;
use crate::model::Series;
use crate::numbers;
use crate::parts::{self, Tone};

/// The unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Counts of these things, in the singular and in the plural.
    Count(&'static str, &'static str),
    /// Durations in microseconds.
    Micros,
}

impl Unit {
    pub(crate) const POINTS: Self = Self::Count("point", "points");

    fn exact(self, value: i64) -> String {
        match self {
            Self::Count(one, many) => {
                format!("{} {}", numbers::grouped(value), if value == 1 { one } else { many })
            }
            Self::Micros => numbers::micros(value),
        }
    }

    /// Formats a value under a heading that names the unit.
    fn bare(self, value: i64) -> String {
        match self {
            Self::Count(..) => numbers::grouped(value),
            Self::Micros => numbers::micros(value),
        }
    }

    fn short(self, value: i64) -> String {
        match self {
            Self::Count(..) => numbers::compact(value),
            Self::Micros if value == 0 => "0".to_owned(),
            Self::Micros => numbers::micros(value),
        }
    }
}

/// How values are drawn and summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Counts, one bar per bucket; layers are stacked.
    Bars,
    /// A balance: a continuous line.
    Level,
    /// A mean: a line with gaps for unknown values.
    Mean,
}

/// The width of a plot on screens wider than a phone's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Third,
    Half,
    Whole,
}

impl Size {
    const fn class(self) -> &'static str {
        match self {
            Self::Third => "third",
            Self::Half => "half",
            Self::Whole => "whole",
        }
    }
}

/// A series with its meaning.
pub(crate) struct Layer<'a> {
    pub(crate) name: &'static str,
    pub(crate) tone: Tone,
    pub(crate) series: &'a Series,
}

/// A horizontal line across the plot.
pub(crate) struct Threshold {
    pub(crate) name: &'static str,
    pub(crate) value: i64,
}

/// A plot to render.
pub(crate) struct Plot<'a> {
    pub(crate) title: &'a str,
    pub(crate) unit: Unit,
    pub(crate) kind: Kind,
    /// All layers have the same buckets.
    pub(crate) layers: Vec<Layer<'a>>,
    pub(crate) threshold: Option<Threshold>,
    pub(crate) size: Size,
}

impl<'a> Plot<'a> {
    /// Creates a small plot of one series.
    pub(crate) fn of(title: &'a str, unit: Unit, kind: Kind, series: &'a Series) -> Self {
        let layers = vec![Layer { name: "", tone: Tone::Plain, series }];
        Self { title, unit, kind, layers, threshold: None, size: Size::Third }
    }

    fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| layer.series.points.iter().all(|point| point.value.is_none()))
    }

    /// Returns the sum of all layers for a bucket, if any is known.
    fn top(&self, number: usize) -> Option<i64> {
        let values = self.layers.iter().filter_map(|layer| layer.series.points.get(number)?.value);
        values.reduce(i64::saturating_add)
    }

    fn tops(&self) -> Vec<Option<i64>> {
        let count = self.layers.iter().map(|layer| layer.series.points.len()).max().unwrap_or(0);
        (0..count).map(|number| self.top(number)).collect()
    }
}

/// Renders the plot with its title, a summary and an expandable table.
pub(crate) fn figure(plot: &Plot<'_>) -> Markup {
    html! {
        figure class={ "plot " (plot.size.class()) } {
            figcaption {
                h3 { (plot.title) }
                p.soft { (words::summary(plot)) }
            }
            @if plot.is_empty() {
                (parts::nothing("Nothing is known of this time."))
            } @else {
                // The style sheet shows one of the two, depending on the width.
                @if let Some(axes) = Axes::broad(plot.size) { (picture(plot, &axes, "broad")) }
                (picture(plot, &Axes::NARROW, if plot.size == Size::Third { "" } else { "narrow" }))
                (words::legend(plot))
                (words::details(plot))
            }
        }
    }
}

fn picture(plot: &Plot<'_>, axes: &Axes, class: &str) -> Markup {
    let threshold = plot.threshold.as_ref().map(|threshold| threshold.value);
    let scale = Scale::over(plot.tops().into_iter().flatten().chain(threshold));
    html! {
        svg class=(class) role="img" viewBox={ "0 0 " (axes.width) " " (axes.height) } {
            title { (plot.title) ": " (words::summary(plot)) }
            (axes.marks(&scale, plot.unit))
            (axes.dates(plot.layers.first().map(|layer| layer.series)))
            @match plot.kind {
                Kind::Bars => (shapes::bars(plot, axes, &scale)),
                Kind::Level | Kind::Mean => (shapes::lines(plot, axes, &scale)),
            }
            @if let Some(value) = threshold { (axes.across(&scale, value)) }
            (shapes::labels(plot, axes))
        }
    }
}

#[cfg(test)]
mod tests;

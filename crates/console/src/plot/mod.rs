//! Figures over time as pictures: bars for what is counted, a line for what is measured, each with its figures in words
//! and as a table.

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

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Of these things, one and many.
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

    /// As it stands under a heading that says of what.
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

/// How values are drawn, and what can be said of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Counts, one bar for each bucket; several layers stand on top of each other.
    Bars,
    /// A balance: a line from bucket to bucket.
    Level,
    /// A mean: a line, with gaps where nothing was measured.
    Mean,
}

/// How much room a picture has beside others, on a screen that is no phone's.
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

/// Values of one meaning.
pub(crate) struct Layer<'a> {
    pub(crate) name: &'static str,
    pub(crate) tone: Tone,
    pub(crate) series: &'a Series,
}

/// A line across the picture.
pub(crate) struct Threshold {
    pub(crate) name: &'static str,
    pub(crate) value: i64,
}

/// A picture to be made.
pub(crate) struct Plot<'a> {
    pub(crate) title: &'a str,
    pub(crate) unit: Unit,
    pub(crate) kind: Kind,
    /// All over the same buckets.
    pub(crate) layers: Vec<Layer<'a>>,
    pub(crate) threshold: Option<Threshold>,
    pub(crate) size: Size,
}

impl<'a> Plot<'a> {
    /// A small picture of one series.
    pub(crate) fn of(title: &'a str, unit: Unit, kind: Kind, series: &'a Series) -> Self {
        let layers = vec![Layer { name: "", tone: Tone::Plain, series }];
        Self { title, unit, kind, layers, threshold: None, size: Size::Third }
    }

    fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| layer.series.points.iter().all(|it| it.value.is_none()))
    }

    /// What is known of a bucket, all layers together.
    fn top(&self, number: usize) -> Option<i64> {
        let values = self.layers.iter().filter_map(|it| it.series.points.get(number)?.value);
        values.reduce(i64::saturating_add)
    }

    fn tops(&self) -> Vec<Option<i64>> {
        let count = self.layers.iter().map(|it| it.series.points.len()).max().unwrap_or(0);
        (0..count).map(|number| self.top(number)).collect()
    }
}

/// The picture with its title, its figures in words, and all of them as a table to unfold.
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
                // One of the two is shown, as there is room: see the style sheet.
                @if let Some(axes) = Axes::broad(plot.size) { (picture(plot, &axes, "broad")) }
                (picture(plot, &Axes::NARROW, if plot.size == Size::Third { "" } else { "narrow" }))
                (words::legend(plot))
                (words::details(plot))
            }
        }
    }
}

fn picture(plot: &Plot<'_>, axes: &Axes, class: &str) -> Markup {
    let threshold = plot.threshold.as_ref().map(|it| it.value);
    let scale = Scale::over(plot.tops().into_iter().flatten().chain(threshold));
    html! {
        svg class=(class) role="img" viewBox={ "0 0 " (axes.width) " " (axes.height) } {
            title { (plot.title) ": " (words::summary(plot)) }
            (axes.marks(&scale, plot.unit))
            (axes.dates(plot.layers.first().map(|it| it.series)))
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

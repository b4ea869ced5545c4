//! Plots of values over time: bars for counts, a line for measurements, each with a summary in words and a table. The
//! pages run no script, which libraries for plots in browsers need; `plotters` draws neither the summary nor the table.

mod axes;
mod scale;
mod shapes;
mod text_alternative;

use maud::{Markup, html};

use self::axes::Axes;
use self::scale::Scale;
use crate::components::{self, Tone};
use crate::model::Series;
use crate::numbers;

/// The unit of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueUnit {
    /// Counts of things. The strings are the name of the things in the singular and in the plural.
    Count(&'static str, &'static str),
    /// Durations in microseconds.
    Micros,
}

impl ValueUnit {
    pub(crate) const POINTS: Self = Self::Count("point", "points");

    fn format_exact(self, value: i64) -> String {
        match self {
            Self::Count(one, many) => {
                format!("{} {}", numbers::format_integer(value), if value == 1 { one } else { many })
            }
            Self::Micros => numbers::format_micros(value),
        }
    }

    /// Formats a value under a heading that names the unit.
    fn format_bare(self, value: i64) -> String {
        match self {
            Self::Count(..) => numbers::format_integer(value),
            Self::Micros => numbers::format_micros(value),
        }
    }

    fn format_short(self, value: i64) -> String {
        match self {
            Self::Count(..) => numbers::format_compact(value),
            Self::Micros if value == 0 => "0".to_owned(),
            Self::Micros => numbers::format_micros(value),
        }
    }
}

/// How values are drawn and summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlotKind {
    /// Counts, one bar per bucket; layers are stacked.
    Bars,
    /// A balance: a continuous line.
    Level,
    /// A mean: a line with gaps for unknown values.
    Mean,
}

/// The width of a plot on screens wider than a phone's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlotSize {
    Third,
    Half,
    Whole,
}

impl PlotSize {
    const fn css_class(self) -> &'static str {
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
    pub(crate) unit: ValueUnit,
    pub(crate) kind: PlotKind,
    /// All layers have the same buckets.
    pub(crate) layers: Vec<Layer<'a>>,
    pub(crate) threshold: Option<Threshold>,
    pub(crate) size: PlotSize,
}

impl<'a> Plot<'a> {
    /// Creates a small plot of one series.
    pub(crate) fn of_series(title: &'a str, unit: ValueUnit, kind: PlotKind, series: &'a Series) -> Self {
        let layers = vec![Layer { name: "", tone: Tone::Plain, series }];
        Self { title, unit, kind, layers, threshold: None, size: PlotSize::Third }
    }

    fn is_empty(&self) -> bool {
        self.layers.iter().all(|layer| layer.series.points.iter().all(|point| point.value.is_none()))
    }

    /// Returns the sum of all layers for a bucket; `None` if no value is known.
    fn bucket_total(&self, number: usize) -> Option<i64> {
        let values = self.layers.iter().filter_map(|layer| layer.series.points.get(number)?.value);
        values.reduce(i64::saturating_add)
    }

    fn bucket_totals(&self) -> Vec<Option<i64>> {
        let count = self.layers.iter().map(|layer| layer.series.points.len()).max().unwrap_or(0);
        (0..count).map(|number| self.bucket_total(number)).collect()
    }
}

/// Renders the plot with its title, a summary and an expandable table.
pub(crate) fn render_plot(plot: &Plot<'_>) -> Markup {
    html! {
        figure class={ "plot " (plot.size.css_class()) } {
            figcaption {
                h3 { (plot.title) }
                p.soft { (text_alternative::summarize_plot(plot)) }
            }
            @if plot.is_empty() {
                (components::empty_message("No data for this period."))
            } @else {
                // The style sheet shows one of the two drawings, depending on the width of the screen.
                @if let Some(axes) = Axes::for_wide_screen(plot.size) { (render_svg(plot, &axes, "broad")) }
                (render_svg(plot, &Axes::NARROW, if plot.size == PlotSize::Third { "" } else { "narrow" }))
                (text_alternative::render_legend(plot))
                (text_alternative::render_value_table(plot))
            }
        }
    }
}

fn render_svg(plot: &Plot<'_>, axes: &Axes, class: &str) -> Markup {
    let threshold = plot.threshold.as_ref().map(|threshold| threshold.value);
    let scale = Scale::for_values(plot.bucket_totals().into_iter().flatten().chain(threshold));
    html! {
        svg class=(class) role="img" viewBox={ "0 0 " (axes.width) " " (axes.height) } {
            title { (plot.title) ": " (text_alternative::summarize_plot(plot)) }
            (axes.render_ticks(&scale, plot.unit))
            (axes.render_dates(plot.layers.first().map(|layer| layer.series)))
            @match plot.kind {
                PlotKind::Bars => (shapes::render_bars(plot, axes, &scale)),
                PlotKind::Level | PlotKind::Mean => (shapes::render_lines(plot, axes, &scale)),
            }
            @if let Some(value) = threshold { (axes.render_threshold(&scale, value)) }
            (shapes::render_tooltips(plot, axes))
        }
    }
}

#[cfg(test)]
mod tests;

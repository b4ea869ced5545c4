//! The axes of a plot: values with their units on the left, dates below.

use maud::{Markup, html};

use super::scale::{Scale, i64_to_f64};
use super::{PlotSize, ValueUnit};
use crate::model::{BucketSize, Series};
use crate::time_format;

/// The dimensions of a plot, in units of about a pixel.
pub(super) struct Axes {
    pub(super) width: u16,
    pub(super) height: u16,
    /// The maximum number of dates that fit.
    dates_max: usize,
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// Formats a number for an attribute, to a tenth of a unit, which is finer than the eye can see.
pub(super) fn format_coordinate(value: f64) -> String {
    format!("{value:.1}")
}

impl Axes {
    pub(super) const NARROW: Self = Self { width: 360, height: 150, dates_max: 5 };

    /// Returns the dimensions for a wide screen; `None` for a plot that is always narrow.
    pub(super) const fn for_wide_screen(size: PlotSize) -> Option<Self> {
        match size {
            PlotSize::Third => None,
            PlotSize::Half => Some(Self { width: 560, height: 150, dates_max: 8 }),
            PlotSize::Whole => Some(Self { width: 1120, height: 220, dates_max: 15 }),
        }
    }

    /// Returns the centre of a bucket and its width.
    pub(super) fn bucket_slot(&self, number: usize, count: usize) -> (f64, f64) {
        let slot = (f64::from(self.width) - LEFT - RIGHT) / usize_to_f64(count.max(1));
        (LEFT + slot * (usize_to_f64(number) + 0.5), slot)
    }

    /// Returns the vertical position of a value, counted from the top.
    pub(super) fn y_position(&self, scale: &Scale, value: i64) -> f64 {
        let bottom = f64::from(self.height) - BOTTOM;
        bottom - scale.relative_position(value) * (bottom - TOP)
    }

    /// Returns the vertical range of values.
    pub(super) fn vertical_range(&self) -> (f64, f64) {
        (TOP, f64::from(self.height) - BOTTOM)
    }

    pub(super) fn render_ticks(&self, scale: &Scale, unit: ValueUnit) -> Markup {
        html! {
            @for mark in &scale.ticks {
                @let y = self.y_position(scale, *mark);
                line class=(if *mark == 0 { "base" } else { "grid" })
                    x1=(format_coordinate(LEFT)) x2=(format_coordinate(f64::from(self.width) - RIGHT)) y1=(format_coordinate(y)) y2=(format_coordinate(y)) {}
                text x=(format_coordinate(LEFT - 6.0)) y=(format_coordinate(y + 4.0)) text-anchor="end" { (unit.format_short(*mark)) }
            }
        }
    }

    /// Renders dates under the buckets, at regular intervals that end at the last bucket, as many as fit.
    pub(super) fn render_dates(&self, series: Option<&Series>) -> Markup {
        let Some(series) = series else { return html! {} };
        let count = series.points.len();
        let every = count.div_ceil(self.dates_max).max(1);
        let chosen = series.points.iter().enumerate().filter(|(number, _)| (count - 1 - number) % every == 0);
        let y = format_coordinate(f64::from(self.height) - 6.0);
        html! {
            @for (number, point) in chosen {
                @let (x, _) = self.bucket_slot(number, count);
                text x=(format_coordinate(x)) y=(y) text-anchor="middle" {
                    @match series.bucket_size {
                        BucketSize::Hour => (time_format::format_hour(point.at)),
                        BucketSize::Day => (time_format::format_day(point.at)),
                    }
                }
            }
        }
    }

    /// Renders the line of a threshold.
    pub(super) fn render_threshold(&self, scale: &Scale, value: i64) -> Markup {
        let y = format_coordinate(self.y_position(scale, value));
        html! { line.threshold x1=(format_coordinate(LEFT)) x2=(format_coordinate(f64::from(self.width) - RIGHT)) y1=(y) y2=(y) {} }
    }
}

fn usize_to_f64(count: usize) -> f64 {
    i64_to_f64(i64::try_from(count).unwrap_or(i64::MAX))
}

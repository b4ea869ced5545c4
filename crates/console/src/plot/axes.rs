//! The axes of a plot: values with their units on the left, dates below.

use maud::{Markup, html};

use super::scale::{Scale, float};
use super::{Size, Unit};
use crate::model::{Series, Step};
use crate::times;

/// The dimensions of a plot, in units of about a pixel.
pub(super) struct Axes {
    pub(super) width: u16,
    pub(super) height: u16,
    /// The maximum of dates that fit.
    dates_max: usize,
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 22.0;

/// Formats a number for an attribute, to a tenth of a unit, which is finer than the eye can see.
pub(super) fn at(value: f64) -> String {
    format!("{value:.1}")
}

impl Axes {
    pub(super) const NARROW: Self = Self { width: 360, height: 150, dates_max: 5 };

    /// Returns the dimensions for a wide screen; `None` for a plot that is always narrow.
    pub(super) const fn broad(size: Size) -> Option<Self> {
        match size {
            Size::Third => None,
            Size::Half => Some(Self { width: 560, height: 150, dates_max: 8 }),
            Size::Whole => Some(Self { width: 1120, height: 220, dates_max: 15 }),
        }
    }

    /// Returns the centre of a bucket and its width.
    pub(super) fn bucket(&self, number: usize, count: usize) -> (f64, f64) {
        let slot = (f64::from(self.width) - LEFT - RIGHT) / whole(count.max(1));
        (LEFT + slot * (whole(number) + 0.5), slot)
    }

    /// Returns the vertical position of a value, counted from the top.
    pub(super) fn y(&self, scale: &Scale, value: i64) -> f64 {
        let bottom = f64::from(self.height) - BOTTOM;
        bottom - scale.place(value) * (bottom - TOP)
    }

    /// Returns the vertical range of values.
    pub(super) fn span(&self) -> (f64, f64) {
        (TOP, f64::from(self.height) - BOTTOM)
    }

    pub(super) fn marks(&self, scale: &Scale, unit: Unit) -> Markup {
        html! {
            @for mark in &scale.marks {
                @let y = self.y(scale, *mark);
                line class=(if *mark == 0 { "base" } else { "grid" })
                    x1=(at(LEFT)) x2=(at(f64::from(self.width) - RIGHT)) y1=(at(y)) y2=(at(y)) {}
                text x=(at(LEFT - 6.0)) y=(at(y + 4.0)) text-anchor="end" { (unit.short(*mark)) }
            }
        }
    }

    /// Renders as many dates under the buckets as fit, counted back from the last.
    pub(super) fn dates(&self, series: Option<&Series>) -> Markup {
        let Some(series) = series else { return html! {} };
        let count = series.points.len();
        let every = count.div_ceil(self.dates_max).max(1);
        let chosen = series.points.iter().enumerate().filter(|(number, _)| (count - 1 - number) % every == 0);
        let y = at(f64::from(self.height) - 6.0);
        html! {
            @for (number, point) in chosen {
                @let (x, _) = self.bucket(number, count);
                text x=(at(x)) y=(y) text-anchor="middle" {
                    @match series.step {
                        Step::Hour => (times::hour(point.at)),
                        Step::Day => (times::day(point.at)),
                    }
                }
            }
        }
    }

    /// Renders the line of a threshold.
    pub(super) fn across(&self, scale: &Scale, value: i64) -> Markup {
        let y = at(self.y(scale, value));
        html! { line.threshold x1=(at(LEFT)) x2=(at(f64::from(self.width) - RIGHT)) y1=(y) y2=(y) {} }
    }
}

fn whole(count: usize) -> f64 {
    float(i64::try_from(count).unwrap_or(i64::MAX))
}

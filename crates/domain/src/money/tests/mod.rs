//! Tests of the arithmetic at every rate.

mod conversions;
mod drift;
mod payments;
mod text;

use super::{Amount, Points, PointsPerDollar};

fn points(count: i64) -> Points {
    Points::new(count).unwrap()
}

fn nanodollars(count: i64) -> Amount {
    Amount::from_nanodollars(count)
}

fn rate(points: i64) -> PointsPerDollar {
    PointsPerDollar::new(points).unwrap()
}

fn every_rate() -> impl Iterator<Item = PointsPerDollar> {
    (1..=10_000).map(rate)
}

/// A second implementation of the tolerance times the rate.
fn expected_scaled_tolerance(rate: PointsPerDollar) -> i128 {
    i128::from(rate.get() * 100_000).min(10_000_000)
}

/// The hard limit of a recognition at this rate.
fn hard_limit(rate: PointsPerDollar) -> i64 {
    5_000 * rate.get()
}

/// Numbers of points near limits and rounding boundaries of this rate.
fn boundary_points(rate: PointsPerDollar) -> Vec<i64> {
    let (r, b) = (rate.get(), hard_limit(rate));
    vec![0, 1, 2, 3, 7, r - 1, r, r + 1, r / 2, 2 * r + 1, b / 3, b - 1, b, b + 1, 10_000 * b]
}

//! Maps values to positions on an axis.

/// The maximum number of intervals on an axis.
const INTERVALS_MAX: i128 = 4;

/// An axis from its lowest to its highest tick. It always contains 0 and is never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scale {
    /// Ticks, lowest first. Their distance is 1, 2 or 5 times a power of ten.
    pub(super) ticks: Vec<i64>,
}

impl Scale {
    pub(super) fn for_values(values: impl IntoIterator<Item = i64>) -> Self {
        let (low, high) =
            values.into_iter().fold((0, 0), |(low, high), value| (value.min(low), value.max(high)));
        let high = if low == high { 1 } else { high };
        let (low, high) = (i128::from(low), i128::from(high));
        let step = tick_interval(high - low);
        let first = low.div_euclid(step) * step;
        let marks = (0..).map(|number| first + number * step);
        let mut marks: Vec<i128> = marks.take_while(|mark| *mark < high).collect();
        marks.push(marks.last().map_or(high, |last| last + step));
        let bounded = |mark: i128| i64::try_from(mark).unwrap_or(if mark < 0 { i64::MIN } else { i64::MAX });
        Self { ticks: marks.into_iter().map(bounded).collect() }
    }

    /// Returns the position of a value: 0 at the lowest tick, 1 at the highest.
    pub(super) fn relative_position(&self, value: i64) -> f64 {
        let (low, high) = match self.ticks.as_slice() {
            [low, .., high] => (i64_to_f64(*low), i64_to_f64(*high)),
            _ => return 0.0,
        };
        ((i64_to_f64(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// Returns the smallest step (1, 2 or 5 times a power of ten) that divides a span into at most [`INTERVALS_MAX`]
/// intervals.
fn tick_interval(span: i128) -> i128 {
    let least = (span + INTERVALS_MAX - 1) / INTERVALS_MAX;
    let mut unit = 1;
    loop {
        if let Some(step) = [unit, unit * 2, unit * 5].into_iter().find(|step| *step >= least) {
            return step;
        }
        unit *= 10;
    }
}

#[expect(clippy::as_conversions, reason = "a position in a picture needs at most 53 bits of precision")]
pub(super) fn i64_to_f64(value: i64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_and_span_all_values() {
        let check = |values: &[i64], expected: &[i64]| {
            assert_eq!(Scale::for_values(values.iter().copied()).ticks, expected, "{values:?}");
        };
        check(&[], &[0, 1]);
        check(&[0, 0], &[0, 1]);
        check(&[1], &[0, 1]);
        check(&[3], &[0, 1, 2, 3]);
        check(&[7], &[0, 2, 4, 6, 8]);
        check(&[100], &[0, 50, 100]);
        check(&[612, 3], &[0, 200, 400, 600, 800]);
        check(&[-7, 12], &[-10, -5, 0, 5, 10, 15]);
        check(&[-3], &[-3, -2, -1, 0]);
        check(&[i64::MAX], &[0, 5_000_000_000_000_000_000, i64::MAX]);
        check(
            &[i64::MIN, i64::MAX],
            &[i64::MIN, -5_000_000_000_000_000_000, 0, 5_000_000_000_000_000_000, i64::MAX],
        );
    }

    #[test]
    fn positions_are_within_the_axis_and_never_undefined() {
        for values in [vec![], vec![0], vec![5], vec![-5, 5], vec![i64::MIN, i64::MAX], vec![i64::MAX]] {
            let scale = Scale::for_values(values);
            for value in [i64::MIN, -1, 0, 1, 12_345, i64::MAX] {
                assert!((0.0..=1.0).contains(&scale.relative_position(value)), "{scale:?} {value}");
            }
        }
        let scale = Scale::for_values([100]);
        assert!((scale.relative_position(25) - 0.25).abs() < 1e-9);
    }
}

//! Plots of few, many and no values.

use time::macros::datetime;

use super::*;
use crate::model::BucketSize;

fn sample_series(step: BucketSize, values: &[Option<i64>]) -> Series {
    let now = datetime!(2026-11-20 14:35 UTC);
    let mut series = Series::from_means(step, now, u16::try_from(values.len()).unwrap(), []);
    for (point, value) in series.points.iter_mut().zip(values) {
        point.value = *value;
    }
    series
}

fn render_sample(kind: PlotKind, values: &[Option<i64>]) -> String {
    let series = sample_series(BucketSize::Day, values);
    let mut plot = Plot::of_series("Points", ValueUnit::Count("point", "points"), kind, &series);
    plot.size = PlotSize::Whole;
    plot.threshold = Some(Threshold { name: "alert below", value: 5 });
    render_plot(&plot).into_string()
}

/// Returns every number in these attributes.
fn extract_coordinates(page: &str) -> Vec<f64> {
    let mut places = Vec::new();
    for name in ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "points"] {
        for value in page.split(&format!(" {name}=\"")).skip(1) {
            let value = value.split('"').next().unwrap();
            places.extend(value.split([' ', ',']).map(|number| number.parse::<f64>().unwrap()));
        }
    }
    places
}

#[test]
fn every_coordinate_is_finite_and_within_the_svg() {
    let many = |count: i64| (0..count).map(|number| Some(number * 1_000)).collect::<Vec<_>>();
    let all = [many(1), many(2), many(24), many(30), many(90), vec![Some(0); 24]];
    let huge = [vec![Some(i64::MAX); 3], vec![Some(i64::MAX), Some(i64::MIN), None], vec![Some(-3), Some(4)]];
    for values in all.iter().chain(&huge) {
        for kind in [PlotKind::Bars, PlotKind::Level, PlotKind::Mean] {
            let page = render_sample(kind, values);
            let places = extract_coordinates(&page);
            assert!(places.len() > 20);
            for place in places {
                assert!((0.0..=1120.0).contains(&place), "{place} of {kind:?} {values:?}");
            }
            assert!(!page.contains("NaN") && !page.contains("inf"));
        }
    }
}

#[test]
fn plot_without_values_shows_a_message() {
    for values in [vec![], vec![None; 24]] {
        for kind in [PlotKind::Bars, PlotKind::Level, PlotKind::Mean] {
            let page = render_sample(kind, &values);
            assert!(page.contains("No data for this period") && !page.contains("<svg"), "{page}");
        }
    }
}

#[test]
fn gap_breaks_the_line_and_single_value_is_a_dot() {
    let page = render_sample(PlotKind::Mean, &[Some(1), Some(2), None, Some(3)]);
    assert_eq!(page.matches("<polyline").count(), 2, "one in each of two sizes");
    assert_eq!(page.matches("<circle").count(), 2, "at the newest value only");
    assert!(page.contains("20 Nov: 3 points") && page.contains("19 Nov: no data"), "{page}");
}

#[test]
fn values_are_summarized_in_words() {
    let check = |kind: PlotKind, values: &[Option<i64>], expected: &str| {
        let series = sample_series(BucketSize::Hour, values);
        assert_eq!(
            text_alternative::summarize_plot(&Plot::of_series(
                "",
                ValueUnit::Count("point", "points"),
                kind,
                &series
            )),
            expected
        );
    };
    check(PlotKind::Bars, &[Some(0), Some(0)], "0 points in 2 hours.");
    check(
        PlotKind::Bars,
        &[Some(1_500), Some(1_500)],
        "3,000 points in 2 hours, at most 1,500 points at 14:00.",
    );
    check(PlotKind::Bars, &[Some(1)], "1 point in this hour, at most 1 point at 14:00.");
    check(
        PlotKind::Level,
        &[Some(5), Some(9), Some(5)],
        "Now 5 points. Minimum 5 points at 14:00, maximum 9 points at 13:00.",
    );
    check(PlotKind::Mean, &[None, Some(7)], "Minimum 7 points at 14:00, maximum 7 points at 14:00.");
    check(PlotKind::Bars, &[], "No data.");
}

#[test]
fn layers_are_stacked_and_have_a_legend() {
    let (good, bad) =
        (sample_series(BucketSize::Hour, &[Some(90)]), sample_series(BucketSize::Hour, &[Some(10)]));
    let layers = vec![
        Layer { name: "confirmed", tone: Tone::Good, series: &good },
        Layer { name: "failed", tone: Tone::Bad, series: &bad },
    ];
    let unit = ValueUnit::Count("attempt", "attempts");
    let plot =
        Plot { title: "A", unit, kind: PlotKind::Bars, layers, threshold: None, size: PlotSize::Third };
    assert_eq!(plot.bucket_totals(), [Some(100)]);
    let page = render_plot(&plot).into_string();
    assert!(page.contains("confirmed: 90 attempts") && page.contains("failed: 10 attempts"), "{page}");
    assert_eq!(page.matches("<rect class=\"fill").count(), 2);
    assert!(page.contains("role=\"img\"") && page.contains("<title>A: 100 attempts"), "{page}");
}
